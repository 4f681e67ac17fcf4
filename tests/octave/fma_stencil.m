## -*- texinfo -*-
## @deftypefn {} {@var{y} =} fma_stencil (@var{x}, @var{taps}, @dots{})
## Returns the expected result of StencilConstantMemory_CUDA, to the bit,
## computed in another way.
##
## Along the first dimension of @var{x} that is not 1, the result is the chain
## @code{acc = 0; acc = fma (sample, tap, acc)} over the taps in ascending order.
## Samples outside the array are +0 and take part like any other.
## Of an even number of taps the middle is the earlier of the two; if either is single,
## both are made so first; of complex arrays each part goes by itself.  The fma is
## @code{exact_fma}, so no fused instruction is asked for and none is trusted.
## Further arguments are options, of which Boundary, Dim and Iterations count.
## @end deftypefn

function y = fma_stencil (x, taps, varargin)
  if (isa (x, "single") || isa (taps, "single"))
    x = single (full (x));
    taps = single (taps);
  endif
  y = over_lines (x, numel (taps), @(padded, n) chain (padded, n, taps), varargin);
endfunction

function acc = chain (padded, n, taps)
  acc = zeros (n, columns (padded), class (padded));
  for k = 1:numel (taps)
    acc = exact_fma (padded(k:k+n-1,:), taps(k), acc);
  endfor
endfunction
