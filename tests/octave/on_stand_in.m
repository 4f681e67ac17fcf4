## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} on_stand_in ()
## True if the stand-in for the CUDA driver (tests/stand_in/cuda) runs the kernels. It is a thousand times slower than a
## GPU: @code{@{whole, small@}@{1 + on_stand_in ()@}} takes sizes that are smaller there and cross the same edges.
## @end deftypefn

function yes = on_stand_in ()
  persistent known = [];
  if (isempty (known))
    known = strncmp (ConstantMemoryDevice_CUDA ().Name, "Stand-in for CUDA", 17);
  endif
  yes = known;
endfunction
