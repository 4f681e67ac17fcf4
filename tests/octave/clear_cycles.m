## -*- texinfo -*-
## @deftypefn {} {} clear_cycles (@var{count}, @var{backend})
## Uses both functions and clears them, by turns in either order.
## @end deftypefn

function clear_cycles (count, backend)
  for i = 1:count
    StencilConstantMemory_CUDA (ones (1, 3e5), [1 2 3], "Backend", backend);
    ConstantMemoryDevice_CUDA ();
    if (mod (i, 2) == 0)
      clear StencilConstantMemory_CUDA
      clear ConstantMemoryDevice_CUDA
    else
      clear ConstantMemoryDevice_CUDA
      clear StencilConstantMemory_CUDA
    endif
  endfor
endfunction
