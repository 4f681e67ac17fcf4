## -*- texinfo -*-
## @deftypefn {} {@var{p} =} fma_convolution (@var{n}, @var{f}, @dots{})
## What ConvolutionConstantMemory_CUDA must return, to the bit, by another way.
##
## Each element is the chain @code{acc = 0; acc = fma (sample, entry, acc)} over
## the entries of @var{f} in column-major order.  Samples outside the array are +0
## and take part like any other.  If either is single, both are made so first.
## What else is given are options, which do not change the result.
## @end deftypefn

function p = fma_convolution (n, f, varargin)
  type = "double";
  if (isa (n, "single") || isa (f, "single"))
    type = "single";
  endif
  n = cast (full (n), type);
  f = cast (full (f), type);
  p = zeros (size (n), type);
  if (isempty (n))
    return;
  endif

  [rows, cols, pages] = size (n);
  r = ([size(f, 1), size(f, 2), size(f, 3)] - 1) / 2;
  padded = zeros ([rows, cols, pages] + 2 * r, type);
  padded(r(1)+1:r(1)+rows, r(2)+1:r(2)+cols, r(3)+1:r(3)+pages) = n;
  for e = 1:numel (f)
    [i, j, k] = ind2sub (2 * r + 1, e);
    p = exact_fma (padded(i:i+rows-1, j:j+cols-1, k:k+pages-1), f(e), p);
  endfor
endfunction
