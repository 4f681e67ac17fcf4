## -*- texinfo -*-
## @deftypefn {} {} clear_cycles (@var{count}, @var{backend})
## Uses all functions and clears them, each time in another order.
## @end deftypefn

function clear_cycles (count, backend)
  names = {"StencilConstantMemory_CUDA", "DerivativeConstantMemory_CUDA", ...
           "ConvolutionConstantMemory_CUDA", "ConstantMemoryDevice_CUDA"};
  orders = perms (1:numel (names));
  for i = 1:count
    StencilConstantMemory_CUDA (ones (1, 1e5), [1 2 3], "Backend", backend);
    DerivativeConstantMemory_CUDA (ones (1, 1e5, "single"), "Backend", backend);
    ConvolutionConstantMemory_CUDA (ones (200, 300), ones (3), "Backend", backend);
    ConstantMemoryDevice_CUDA ();
    for name = names(orders(1+mod (i - 1, rows (orders)),:))
      clear (name{1});
    endfor
  endfor
endfunction
