## -*- texinfo -*-
## @deftypefn {} {@var{p} =} fma_convolution (@var{n}, @var{f}, @dots{})
## Returns the expected result of ConvolutionConstantMemory_CUDA, to the bit,
## computed in another way.
##
## Each element is the chain @code{acc = 0; acc = fma (sample, entry, acc)} over
## the entries of @var{f} in column-major order.  Samples outside the array are +0
## and take part like any other.  Of an even size the middle is the earlier of the two.
## If either is single, both are made so first.  Of complex arrays each part goes by itself.
## Under a filter of three dimensions further ones of @var{n} count volumes.
## Further arguments are options, of which Boundary, Iterations and Shape count.
## @end deftypefn

function p = fma_convolution (n, f, varargin)
  if (iscomplex (n))
    sides = real_sides (varargin);
    p = complex (fma_convolution (real (n), f, varargin{:}), fma_convolution (imag (n), f, sides{:}));
    if (! any (imag (p)(:) != 0))
      p = real (p);                     # Octave makes it so
    endif
    return;
  endif
  type = "double";
  if (isa (n, "single") || isa (f, "single"))
    type = "single";
  endif
  n = cast (full (n), type);
  f = cast (full (f), type);
  o = sweep_options (varargin);
  p = n;
  entries = [size(f), 1](1:3);
  [ahead, behind] = o.around (entries);
  dims = size (n);
  dims(end+1:3) = 1;
  dims(1:3) = max (dims(1:3) + ahead + behind - (entries - 1), 0) .* (dims(1:3) > 0);
  if (isempty (n) || any (dims == 0))
    p = zeros (dims, type);
    return;
  endif

  [rows, cols, pages] = deal (num2cell (dims(1:3)){:});
  for sweep = 1:o.Iterations
    padded = extended (p, ahead, o.Boundary, behind);
    p = zeros ([dims(1:3), prod(dims(4:end))], type);
    for e = 1:numel (f)
      [i, j, k] = ind2sub (entries, e);
      p = exact_fma (padded(i:i+rows-1, j:j+cols-1, k:k+pages-1,:), f(e), p);
    endfor
    p = reshape (p, dims);
  endfor
endfunction
