## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} warned (@var{name})
## True if the last warning was that there is no usable GPU, under the prefix
## @var{name} (that of the stencil if not given).  (Others do not count: Octave
## 11 leaves some of its own in @code{lastwarn} as it reads files.)
## @end deftypefn

function yes = warned (name = "StencilConstantMemory")
  [~, id] = lastwarn ();
  yes = strcmp (id, [name ":noDevice"]);
endfunction
