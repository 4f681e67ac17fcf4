## -*- texinfo -*-
## @deftypefn {} {@var{p} =} fma_convolution (@var{n}, @var{f}, @dots{})
## What ConvolutionConstantMemory_CUDA must return, to the bit, by another way.
##
## Each element is the chain @code{acc = 0; acc = fma (sample, entry, acc)} over
## the entries of @var{f} in column-major order.  Samples outside the array are +0
## and take part like any other.  If either is single, both are made so first.
## What else is given are options; of these, Boundary, Iterations and Shape count.
## @end deftypefn

function p = fma_convolution (n, f, varargin)
  type = "double";
  if (isa (n, "single") || isa (f, "single"))
    type = "single";
  endif
  n = cast (full (n), type);
  f = cast (full (f), type);
  o = sweep_options (varargin);
  p = n;
  r = ([size(f, 1), size(f, 2), size(f, 3)] - 1) / 2;
  dims = [size(n, 1), size(n, 2), size(n, 3)];
  dims = max (dims + 2 * (o.reach - 1) * r, 0) .* (dims > 0);
  if (isempty (n) || any (dims == 0))
    p = zeros (dims, type);
    return;
  endif

  [rows, cols, pages] = deal (num2cell (dims){:});
  for sweep = 1:o.Iterations
    padded = extended (p, o.reach * r, o.Boundary);
    p = zeros (dims, type);
    for e = 1:numel (f)
      [i, j, k] = ind2sub (2 * r + 1, e);
      p = exact_fma (padded(i:i+rows-1, j:j+cols-1, k:k+pages-1), f(e), p);
    endfor
  endfor
endfunction
