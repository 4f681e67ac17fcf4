## -*- texinfo -*-
## @deftypefn {} {@var{y} =} fma_stencil (@var{x}, @var{taps})
## What StencilConstantMemory_CUDA must return, to the bit, by another way.
##
## Along the first dimension of @var{x} that is not 1, the result is the chain
## @code{acc = 0; acc = fma (sample, tap, acc)} over the taps in ascending order.
## Samples outside the array are +0 and take part like any other.  The fma is
## @code{exact_fma}, so no fused instruction is asked for and none is trusted.
## @end deftypefn

function y = fma_stencil (x, taps)
  dims = size (x);
  along = find (dims != 1, 1);
  if (isempty (along))
    along = 1;
  endif
  y = zeros (dims);
  if (isempty (x))
    return;
  endif

  ## Dimensions before the first that is not 1 are all 1: lines are columns.
  n = dims(along);
  lines = reshape (full (x), n, []);
  r = (numel (taps) - 1) / 2;
  edge = zeros (r, columns (lines));
  padded = [edge; lines; edge];
  acc = zeros (size (lines));
  for k = 1:numel (taps)
    acc = exact_fma (padded(k:k+n-1,:), taps(k), acc);
  endfor
  y(:) = acc;
endfunction
