## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} warned ()
## Whether the last warning was that there is no usable GPU.  (Others do not
## count: Octave 11 leaves some of its own in @code{lastwarn} as it reads files.)
## @end deftypefn

function yes = warned ()
  [~, id] = lastwarn ();
  yes = strcmp (id, "StencilConstantMemory:noDevice");
endfunction
