## The table "Coming from other functions" of docs/reference.md: each row against the function itself, or against its
## definition if no Octave has it. Also its statements about zeros, NaN and gaps.

%!function compare (there__, here__, values__, setup__ = "", there_is__ = [])
%!  ## Evaluates the table's columns THERE and HERE, after the row's SETUP. VALUES are the variables; THERE_IS the
%!  ## result of a function that is not here.
%!  S = @StencilConstantMemory_CUDA;
%!  C = @ConvolutionConstantMemory_CUDA;
%!  for name__ = fieldnames (values__)'
%!    eval ([name__{1} " = values__.(name__{1});"]);
%!  endfor
%!  eval (setup__);
%!  if (isempty (there_is__))
%!    there_is__ = eval (there__);
%!  endif
%!  here_is__ = eval (here__);
%!  close_to (here_is__, there_is__, [there__ " against " here__]);
%!endfunction
%!
%!function a = some (varargin)
%!  ## Numbers between -1 and 1, always the same ones.
%!  rand ("twister", varargin{1});
%!  a = 2 * rand (varargin{2:end}) - 1;
%!endfunction
%!
%!function close_to (got, want, what)
%!  ## NaN in the same places, and everywhere else the same but for rounding.
%!  assert (class (got), class (want));
%!  assert (size (got), size (want));
%!  assert (! isempty (got) && any (got(:) != 0), "%s: there is nothing to compare", what);
%!  if (isinteger (got) || islogical (got))
%!    assert (isequal (got, want), "%s: they differ", what);
%!    return;
%!  endif
%!  assert (isequal (isnan (got), isnan (want)), "%s: NaN in other places", what);
%!  off = max ([abs(got(:) - want(:)); 0]);
%!  allowed = 20 * eps (class (got)) * max (abs (want(:)));
%!  assert (off <= allowed, "%s: off by %g", what, off);
%!endfunction
%!
%!function v = values (m = 5, n = 3)
%!  ## A filter of M taps, one of M x N, and their inputs.
%!  v.x = some (1, 23, 1);
%!  v.A = some (2, 9, 8);
%!  v.k = some (3, 1, m);
%!  v.h = some (4, m, n);
%!endfunction
%!
%!function y = correlate1d (x, k, origin = 0)
%!  ## SciPy's by its definition, in its mode 'reflect': the filter's element number floor (m / 2) + origin, counted from 0,
%!  ## lies on the sample.
%!  n = numel (x);
%!  y = zeros (size (x));
%!  for i = 0:n-1
%!    for j = 0:numel (k)-1
%!      at = mod (i + j - floor (numel (k) / 2) - origin, 2 * n);
%!      at = min (at, 2 * n - 1 - at);
%!      y(i+1) += k(j+1) * x(at+1);
%!    endfor
%!  endfor
%!endfunction
%!
%!function y = weighted (x, k)
%!  ## The mean of those neighbours that are no NaN, with the weights of K, sample by sample.
%!  r = (numel (k) - 1) / 2;
%!  y = zeros (size (x));
%!  for i = 1:numel (x)
%!    at = max (1, i - r):min (numel (x), i + r);
%!    at(isnan (x(at))) = [];
%!    weights = k(at - i + r + 1);
%!    y(i) = sum (x(at)(:) .* weights(:)) / sum (weights);
%!  endfor
%!endfunction

## --- Images ------------------------------------------------------------------------------

%!testif ; has_package ("image")  # needs Octave's package image
%! pkg load image
%! for m = 1:6
%!   for n = 1:4
%!     v = values (m, n);
%!     compare ("imfilter (A, h, 'replicate')", "C (A, h, 'replicate')", v);
%!     compare ("imfilter (A, h, 'symmetric')", "C (A, h, 'symmetric')", v);
%!     compare ("imfilter (A, h, 'circular')", "C (A, h, 'circular')", v);
%!     compare ("imfilter (A, h, 7)", "C (A, h, 7)", v);
%!     compare ("imfilter (A, h, 'conv')", "C (A, h, 'conv')", v);
%!     compare ("imfilter (A, h, 'symmetric', 'conv')", "C (A, h, 'symmetric', 'conv')", v);
%!     v.A = uint8 (250 * rand (9, 8));
%!     v.h = round (4 * abs (v.h) + 1) / 4;
%!     compare ("imfilter (A, h, 'replicate')", "C (A, h, 'replicate')", v);
%!     v.RGB = uint8 (250 * rand (9, 8, 3));
%!     compare ("imfilter (RGB, h)", "C (RGB, h)", v);
%!   endfor
%! endfor

%!testif ; has_package ("image")  # needs Octave's package image
%! pkg load image
%! compare ("imfilter (A, h, 'full')", "C (A, h, 'full')", values (5, 3));

%!test # where imfilter's 'full' is MATLAB's: an array padded so far that all outputs that meet it are there
%! for m = 1:4
%!   v = values (m, 5 - m);
%!   at = @(extent, r) min (max (1 - r:extent + r, 1), extent);
%!   padded = v.A(at (9, m - 1), at (8, 4 - m));
%!   close_to (ConvolutionConstantMemory_CUDA (v.A, v.h, "full", "replicate"), ...
%!             conv2 (padded, rot90 (v.h, 2), "valid"), "'full' with 'replicate'");
%! endfor

%!testif ; has_package ("image")  # needs Octave's package image
%! ## By its definition: 2 ceil (2 s) + 1 entries either way, and 'replicate'.
%! pkg load image
%! setup = "r = ceil (2 * s); g = exp (-(-r:r) .^ 2 / (2 * s ^ 2)); g = g / sum (g);";
%! v = values ();
%! for s = [0.5 1 1.7]
%!   v.s = s;
%!   want = imfilter (v.A, fspecial ("gaussian", 2 * ceil (2 * s) + 1, s), "replicate");
%!   compare ("imgaussfilt (A, s)", "C (A, {g', g}, 'replicate')", v, setup, want);
%! endfor

%!test # filter2, conv2, convn
%! for m = 1:5
%!   for n = 1:4
%!     v = values (m, n);
%!     compare ("filter2 (h, A)", "C (A, h)", v);
%!     compare ("filter2 (h, A, 'full')", "C (A, h, 'full')", v);
%!     compare ("filter2 (h, A, 'valid')", "C (A, h, 'valid')", v);
%!     compare ("conv2 (A, h)", "C (A, h, 'conv', 'full')", v);
%!     compare ("conv2 (A, h, 'same')", "C (A, h, 'conv')", v);
%!     compare ("conv2 (A, h, 'valid')", "C (A, h, 'conv', 'valid')", v);
%!     [v.u, v.v] = deal (some (5, 1, m), some (6, n, 1));
%!     compare ("conv2 (u, v, A, 'same')", "C (A, {u(:), v(:)'}, 'conv')", v);
%!     [v.V, v.h] = deal (some (7, 6, 5, 4), some (8, m, n, 3));
%!     compare ("convn (V, h, 'same')", "C (V, h, 'conv')", v);
%!     v.h = some (9, m, n, 2);
%!     compare ("convn (V, h, 'same')", "C (V, h, 'conv')", v);
%!   endfor
%! endfor

%!test # of integers and truth values: numbers, of double (A)
%! for A = {uint8(250 * rand (9, 8)), some(2, 9, 8) > 0, int16(-3 * rand (9, 8))}
%!   v = values (3, 2);
%!   v.A = A{1};
%!   compare ("conv2 (double (A), h)", "C (double (A), h, 'conv', 'full')", v);
%!   if (islogical (v.A))
%!     ## Octave's own take no integers.
%!     compare ("filter2 (h, A)", "C (double (A), h)", v);
%!     compare ("conv2 (A, h)", "C (double (A), h, 'conv', 'full')", v);
%!     compare ("convn (A, h, 'same')", "C (double (A), h, 'conv')", v);
%!   endif
%! endfor

%!test # batches of images and of volumes
%! h = some (1, 2, 3);
%! A = some (2, 6, 5, 2, 3);
%! P = ConvolutionConstantMemory_CUDA (A, h, "conv");
%! V = some (3, 2, 3, 2);
%! Q = ConvolutionConstantMemory_CUDA (A, V, "conv");
%! for i = 1:3
%!   close_to (Q(:,:,:,i), convn (A(:,:,:,i), V, "same"), "a volume of a batch");
%!   for j = 1:2
%!     close_to (P(:,:,j,i), conv2 (A(:,:,j,i), h, "same"), "an image of a batch");
%!   endfor
%! endfor

## --- Signals -----------------------------------------------------------------------------

%!test # conv and filter, of real signals and of complex ones
%! for m = 1:7
%!   v = values (m);
%!   compare ("conv (x, k)", "S (x, k, 'conv', 'full')", v);
%!   compare ("conv (x, k, 'same')", "S (x, k, 'conv')", v);
%!   compare ("conv (x, k, 'valid')", "S (x, k, 'conv', 'valid')", v);
%!   compare ("filter (k, 1, x)", "S ([zeros(numel (k) - 1, 1); x], k, 'conv', 'valid')", v);
%!   v.z = complex (v.x, some (5, 23, 1));
%!   compare ("conv (z, k)", "S (z, k, 'conv', 'full')", v);
%!   compare ("conv (z, k, 'same')", "S (z, k, 'conv')", v);
%!   compare ("conv2 (z, k, 'same')", "C (z, k, 'conv')", v);
%!   v.z = single (v.z);
%!   compare ("conv (z, k)", "S (z, k, 'conv', 'full')", v);
%!   v.z = double (v.z);
%!   v.k = complex (v.k, some (6, 1, m));
%!   v.k(1) = 1 + 2i;
%!   compare ("conv (z, k, 'same')", "S (z, real (k), 'conv') + 1i * S (z, imag (k), 'conv')", v);
%!   compare ("correlate (z, k)", "S (z, real (k)) + 1i * S (z, imag (k))", v, "", conv (v.z, flip (v.k), "same"));
%! endfor

%!test # movmean
%! v = values ();
%! compare ("movmean (x, 5)", "S (x, ones (1, 5)) ./ S (ones (size (x)), ones (1, 5))", v);
%! compare ("movmean (x, 5, 'Endpoints', 'fill')", "S (x, ones (1, 5) / 5, 'Boundary', NaN)", v);
%! compare ("movmean (x, 5, 'Endpoints', 7)", "S (x, ones (1, 5) / 5, 'Boundary', 7)", v);
%! compare ("movmean (x, 5, 'Endpoints', 'discard')", "S (x, ones (1, 5) / 5, 'valid')", v);
%! compare ("movmean (x, 5, 'Endpoints', 'same')", "S (x, ones (1, 5) / 5, 'replicate')", v);
%! compare ("movmean (x, 5, 'Endpoints', 'periodic')", "S (x, ones (1, 5) / 5, 'circular')", v);
%! compare ("movmean (x, 4)", "S (x, [1 1 1 1 0]) ./ S (ones (size (x)), [1 1 1 1 0])", v);
%! compare ("movmean (x, [2 0])", "S (x, [1 1 1 0 0]) ./ S (ones (size (x)), [1 1 1 0 0])", v);
%! compare ("movmean (x, 4, 'Endpoints', 'discard')", "S (x, ones (1, 4) / 4, 'valid')", v);

%!test # movmean without NaN, which Octave's does not know yet
%! setup = "w = ~isnan (x); filled = x; filled(~w) = 0;";
%! v = values ();
%! v.x([1 5 6 10:15 23]) = NaN;
%! compare ("movmean (x, 5, 'omitnan')", "S (filled, ones (1, 5)) ./ S (double (w), ones (1, 5))", v, setup, ...
%!          weighted (v.x, ones (1, 5)));

%!testif ; has_package ("signal")  # needs Octave's package signal
%! pkg load signal
%! here = "[F(1:r,:) * x(1:n); S(x, F(r+1,:), 'valid'); F(r+2:n,:) * x(end-n+1:end)]";
%! v = values ();
%! for order = {1, 3; 2, 7; 3, 7; 4, 21}'
%!   [v.p, v.n] = order{:};
%!   compare ("sgolayfilt (x, p, n)", here, v, "F = sgolay (p, n); r = (n - 1) / 2;");
%! endfor

%!test # gradient and del2
%! v = values ();
%! v.d = 0.3;
%! compare ("gradient (x, d)", "[x(2)-x(1); S(x, [-1 0 1] / 2, 'valid'); x(end)-x(end-1)] / d", v);
%! compare ("gradient (A, d)(:,2:end-1)", "S (A, [-1 0 1] / (2 * d), 'Dim', 2)(:,2:end-1)", v);
%! compare ("del2 (A, d)(2:end-1,2:end-1)", "C (A, [0 1 0; 1 -4 1; 0 1 0] / (4 * d ^ 2))(2:end-1,2:end-1)", v);

%!testif ; has_package ("signal")  # needs Octave's package signal
%! ## The recipe of "Other rates".
%! pkg load signal
%! for m = 1:4
%!   for p = 1:4
%!     for q = 1:3
%!       v = values (m);
%!       [v.p, v.q] = deal (p, q);
%!       compare ("upfirdn (x, k, p, q)", "y(1:q:end)", v, ...
%!                ["u = zeros (p * (numel (x) - 1) + 1, 1); u(1:p:end) = x;" ...
%!                 "y = StencilConstantMemory_CUDA (u, k, 'conv', 'full');"]);
%!     endfor
%!   endfor
%! endfor
%! for q = 2:4
%!   for n = [7 30]
%!     x = some (1, 100, 1);
%!     b = fir1 (n, 1 / q);
%!     y = StencilConstantMemory_CUDA ([zeros(n, 1); x], b, "conv", "valid");
%!     close_to (y(1:q:end), decimate (x, q, n, "fir"), "decimate");
%!   endfor
%! endfor

## --- SciPy: by its definition, and against what SciPy 1.17.1 gives ------------------------

%!test # its definition gives what it gives
%! x = 1:8;
%! k = [1 2 3 5];
%! assert (correlate1d (x, k), [17 24 34 45 56 67 78 84]);
%! assert (correlate1d (x, k, -1), [24 34 45 56 67 78 84 82]);
%! S = @StencilConstantMemory_CUDA;
%! assert (S (x, [k 0], "symmetric"), [17 24 34 45 56 67 78 84]);
%! assert (S (x, k, "symmetric"), [24 34 45 56 67 78 84 82]);
%! assert (S (x, [k 0], "replicate"), [16 24 34 45 56 67 78 84]);                     # nearest
%! assert (S (x, [k 0], "mirror"), [20 25 34 45 56 67 78 79]);                        # mirror
%! assert (S (x, [k 0], "circular"), [36 31 34 45 56 67 78 49]);                      # wrap
%! assert (S (x, [k 0]), [13 23 34 45 56 67 78 44]);                                  # constant
%! assert (S (x, k, "conv", "symmetric"), [15 21 32 43 54 65 75 82]);
%! A = reshape (1:12, 4, 3)' .^ 2;
%! C = @ConvolutionConstantMemory_CUDA;
%! assert (C (A, [1 2; 3 5]), [264 375 508 208; 840 1039 1260 496; 281 342 409 144]);
%! assert (C (A, [1 2; 3 5], "conv"), [103 168 255 208; 495 648 823 608; 705 863 1037 720]);

%!test # each row
%! for m = 1:6
%!   v = values (m);
%!   if (mod (m, 2) == 1)
%!     compare ("correlate1d (x, k)", "S (x, k, 'symmetric')", v, "", correlate1d (v.x, v.k));
%!   else
%!     compare ("correlate1d (x, k)", "S (x, [k 0], 'symmetric')", v, "", correlate1d (v.x, v.k));
%!     compare ("with origin=-1", "S (x, k, 'symmetric')", v, "", correlate1d (v.x, v.k, -1));
%!   endif
%!   ## It turns the taps round, and of an even filter takes the middle one sample before.
%!   convolved = correlate1d (v.x, flip (v.k), -(mod (m, 2) == 0));
%!   compare ("convolve1d (x, k)", "S (x, k, 'conv', 'symmetric')", v, "", convolved);
%!   ## A separable filter, one dimension after the other.
%!   g = some (5, 1, 7 - m);
%!   v.h = v.k' * g;
%!   [P, Q] = deal (zeros (9, 8));
%!   for j = 1:8
%!     P(:,j) = correlate1d (v.A(:,j), v.k, -(mod (m, 2) == 0));
%!     Q(:,j) = correlate1d (v.A(:,j), flip (v.k), -(mod (m, 2) == 0));
%!   endfor
%!   for i = 1:9
%!     P(i,:) = correlate1d (P(i,:), g, -(mod (7 - m, 2) == 0));
%!     Q(i,:) = correlate1d (Q(i,:), flip (g), -(mod (7 - m, 2) == 0));
%!   endfor
%!   compare ("correlate (A, h)", "C (A, h, 'symmetric')", v, "", P);
%!   compare ("convolve (A, h)", "C (A, h, 'conv', 'symmetric')", v, "", Q);
%! endfor

## --- Zeros, NaN and gaps -----------------------------------------------------------------

%!test # a NaN, or an infinity, under an entry of 0 spreads
%! L = [0 1 0; 1 -4 1; 0 1 0];
%! Z = zeros (5);
%! for gap = [NaN Inf -Inf]
%!   Z(3,3) = gap;
%!   assert (nnz (isfinite (ConvolutionConstantMemory_CUDA (Z, L))), 25 - 9);
%!   assert (nnz (isfinite (conv2 (Z, L, "same"))), 25 - 5);
%!   assert (nnz (isfinite (convn (Z, L, "same"))), 25 - 5);
%!   z = Z(3,:);
%!   assert (isfinite (StencilConstantMemory_CUDA (z, [1 0 1])), logical ([1 0 0 0 1]));
%!   assert (isfinite (filter ([1 0 1], 1, z)), logical ([1 1 0 0 0]));
%!   assert (isfinite (conv (z, [1 0 1], "same")), logical ([1 0 1 0 1]));
%! endfor

%!testif ; has_package ("image")  # needs Octave's package image
%! pkg load image
%! Z = zeros (5);
%! Z(3,3) = NaN;
%! assert (nnz (isnan (imfilter (Z, [0 1 0; 1 -4 1; 0 1 0]))), 5);

%!test # a normalised convolution is the mean of the samples that are there
%! S = @StencilConstantMemory_CUDA;
%! F = [1 2 4 2 1];
%! for gaps = {[], 4, [1 2 9 23], 8:14, 1:23}
%!   x = some (1, 23, 1);
%!   x(gaps{1}) = NaN;
%!   w = ~isnan (x);
%!   x(~w) = 0;
%!   y = S (x, F) ./ S (double (w), F);
%!   x(~w) = NaN;
%!   want = weighted (x, F);
%!   assert (isnan (y), isnan (want));
%!   assert (y, want, 1e-14);
%! endfor
%! assert (all (isnan (y)));

%!test # what a weight other than 0 takes from a gap is NaN, as conv2 has it
%! C = @ConvolutionConstantMemory_CUDA;
%! for L = {[0 1 0; 1 -4 1; 0 1 0], [1 0; 0 -1], [0 0 0; -1 0 1; 0 0 0]}
%!   A = some (1, 9, 8);
%!   A([12 30 31 72]) = NaN;
%!   w = ~isnan (A);
%!   filled = A;
%!   filled(~w) = 0;
%!   Q = C (filled, L{1}, "conv");
%!   Q(C (double (~w), double (L{1} ~= 0), "conv") > 0) = NaN;
%!   close_to (Q, conv2 (A, L{1}, "same"), "gaps");
%!   assert (any (isnan (Q(:))) && ! all (isnan (Q(:))));
%! endfor

## --- The table -----------------------------------------------------------------------------

%!test # each row is compared above, in the words of the table
%! folder = fileparts (file_in_loadpath ("has_package.m"));
%! tests = fileread (fullfile (folder, "others.tst"));
%! text = fileread (fullfile (folder, "..", "..", "docs", "reference.md"));
%! section = regexp (text, '^## Coming from other functions$(.*?)^###? ', "tokens", "once", "lineanchors"){1};
%! lines = strsplit (section, "\n");
%! rows = lines(strncmp (lines, "| ", 2))(2:end);
%! assert (numel (rows) >= 25);
%! compared = 0;
%! for row = rows
%!   cells = strsplit (row{1}, " | ");
%!   here = regexp (cells{2}, '`([^`]*)`', "tokens", "once");
%!   if (isempty (here))
%!     continue  # a recipe elsewhere, or none
%!   endif
%!   there = regexp (cells{1}, '`([^`]*)`', "tokens");
%!   setup = regexp (cells{3}, '^`([^`]*;)`', "tokens");
%!   for words = [here, there{:}, setup{:}]
%!     assert (! isempty (strfind (tests, words{1})), "no test has the table's <%s>", words{1});
%!   endfor
%!   compared += 1;
%! endfor
%! assert (compared >= 23);
