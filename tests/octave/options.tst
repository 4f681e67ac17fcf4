## Results of Boundary, Dim and Iterations, for every function that has them.
## (Their errors are in errors.tst, Progress in long_runs.tst.)

## --- Plain facts to read -------------------------------------------------------

%!assert (StencilConstantMemory_CUDA (1:4, [1 0 0], "Boundary", 9), [9 1 2 3])
%!assert (StencilConstantMemory_CUDA (1:4, [1 0 0], "Boundary", "replicate"), [1 1 2 3])
%!assert (StencilConstantMemory_CUDA (1:4, [1 0 0], "Boundary", "circular"), [4 1 2 3])
%!assert (StencilConstantMemory_CUDA (1:4, [1 0 0 0 0], "Boundary", "symmetric"), [2 1 1 2])
%!assert (StencilConstantMemory_CUDA (1:4, [0 0 0 0 1], "Boundary", "symmetric"), [3 4 4 3])
%!assert (StencilConstantMemory_CUDA ([1 2; 3 4], [1 0 0], "Dim", 2), [0 1; 0 3])
%!assert (StencilConstantMemory_CUDA ([1 2; 3 4], [1 0 0], "Dim", 1), [0 0; 1 2])
%!assert (StencilConstantMemory_CUDA ([1 2; 3 4], [1 2 3], "Dim", 3), [2 4; 6 8])
%!assert (StencilConstantMemory_CUDA (1:5, [1 0 0], "Iterations", 2), [0 0 1 2 3])
%!assert (StencilConstantMemory_CUDA (1:5, [1 0 0], "Iterations", 0), 1:5)
%!assert (StencilConstantMemory_CUDA (1:5, [1 0 0], "Iterations", 7, "Boundary", "circular"), [4 5 1 2 3])
## The boundary comes anew in every sweep: padded once, the second 7 would not be there.
%!assert (StencilConstantMemory_CUDA (1:5, [1 0 0], "Iterations", 2, "Boundary", 7), [7 7 1 2 3])
%!assert (StencilConstantMemory_CUDA ([1 0 0], [1 1 1], "Iterations", 2, "Boundary", "replicate"), [5 3 1])

%!test # a boundary without its name
%! for given = {"StencilConstantMemory_CUDA", {1:5, [1 2 1], 3}; "ConvolutionConstantMemory_CUDA", {magic(4), 1, {"symmetric", "circular"}}}'
%!   text = fails (given{1}, "numberOfInputs", given{2});
%!   assert (! isempty (strfind (text, "'Boundary'")), "%s", text);
%! endfor

%!test # a ramp has one slope, and a line that meets itself has its own derivative
%! d = DerivativeConstantMemory_CUDA (3 * (0:12), 0.5);
%! assert (d(5:9), 6 * ones (1, 5), 1e-13);
%! x = 2 * pi * (0:63) / 64;
%! assert (DerivativeConstantMemory_CUDA (sin (x), x(2), "Boundary", "circular"), cos (x), 1e-10);
%! assert (DerivativeConstantMemory_CUDA (5 * ones (1, 9), "Boundary", 5), zeros (1, 9));
%! assert (DerivativeConstantMemory_CUDA (5 * ones (3), "Boundary", "replicate", "Dim", 2), zeros (3));

%!test # an image, moved by one
%! m = magic (4);
%! from = [1 0 0; 0 0 0; 0 0 0];
%! assert (ConvolutionConstantMemory_CUDA (m, from, "Boundary", "circular"), circshift (m, [1 1]));
%! assert (ConvolutionConstantMemory_CUDA (m, from, "Boundary", "circular", "Iterations", 6), circshift (m, [6 6]));
%! assert (ConvolutionConstantMemory_CUDA (m, from, "Boundary", "replicate"), m([1 1 2 3],[1 1 2 3]));
%! assert (ConvolutionConstantMemory_CUDA (m, from, "Boundary", "symmetric"), m([1 1 2 3],[1 1 2 3]));
%! far = zeros (5);
%! far(1) = 1;
%! assert (ConvolutionConstantMemory_CUDA (m, far, "Boundary", "symmetric"), m([2 1 1 2],[2 1 1 2]));
%! assert (ConvolutionConstantMemory_CUDA (m, from, "Boundary", -3), [-3 -3 -3 -3; [-3; -3; -3], m(1:3,1:3)]);

## --- Boundary: the chain over the extended array, by another way -----------------

%!function list = boundaries ()
%!  list = {"replicate", "symmetric", "circular", NaN, -7e19, -0, 1.5, Inf, -Inf};
%!endfunction

%!test # every tap count, and lines shorter than the filter
%! for b = boundaries ()
%!   for m = [1:2:11, 21]
%!     for n = [1:3, 5, 10, 11, 64]
%!       if (! takes ("taps", b, m, n))
%!         continue
%!       endif
%!       agrees (noise (n + 1, 1, n), noise (m, 1, m), "Boundary", b{1});
%!     endfor
%!   endfor
%! endfor

%!test # columns, and pages
%! for b = boundaries ()
%!   agrees (noise (1, 30, 7), noise (2, 1, 9), "Boundary", b{1});
%!   agrees (noise (1, 3, 70), noise (2, 1, 21), "Boundary", b{1});
%!   agrees (noise (1, 1, 12, 5), noise (2, 1, 5), "Boundary", b{1});
%! endfor

%!test # the derivative, in both classes
%! for b = boundaries ()
%!   for n = [1:5, 8, 9, 17, 64]
%!     if (! takes ("derivative", b, n))
%!       continue
%!     endif
%!     agrees_with (@fma_derivative, "DerivativeConstantMemory_CUDA", {noise(n + 1, 1, n), 0.3, "Boundary", b{1}});
%!     agrees_with (@fma_derivative, "DerivativeConstantMemory_CUDA", {single(noise (n + 1, n, 3)), "Boundary", b{1}});
%!   endfor
%! endfor

%!test # the convolution, in both classes: images and volumes, also smaller than the filter
%! sizes = {[1 1], [1 9], [9 1], [2 3], [7 8], [40 5], [4 3 2], [9 8 5], [1 1 6]};
%! if (is_small ())
%!   sizes(end-1:end) = {[9 8 3], [1 1 3]};
%! endif
%! filters = {[1 1], [3 3], [1 5], [5 1], [15 15], [3 3 3], [1 1 7], [7 3 5]};
%! for b = boundaries ()
%!   for s = sizes
%!     for f = filters
%!       if (prod (s{1}) > 50 && prod (f{1}) > 100 || ! takes ("convolution", b, s, f))
%!         continue;
%!       endif
%!       n = noise (3, s{1});
%!       entries = noise (4, f{1});
%!       agrees_with (@fma_convolution, "ConvolutionConstantMemory_CUDA", {n, entries, "Boundary", b{1}});
%!       if (numel (n) < 30)
%!         agrees_with (@fma_convolution, "ConvolutionConstantMemory_CUDA", {single(n), entries, "Boundary", b{1}});
%!       endif
%!     endfor
%!   endfor
%! endfor

%!test # of any numeric class, and rounded once to the one that is computed in
%! x = noise (1, 1, 40);
%! k = noise (2, 1, 5);
%! for value = {single(0.1), int8(-3), uint64(7), true, 0.1, 1e300, 2 ^ -140 * 1.0000001}
%!   want = StencilConstantMemory_CUDA (x, k, "Boundary", double (value{1}));
%!   assert (same_bits (StencilConstantMemory_CUDA (x, k, "Boundary", value{1}), want));
%!   for f = {@(x, b) DerivativeConstantMemory_CUDA (x, "Boundary", b), ...
%!            @(x, b) ConvolutionConstantMemory_CUDA (x, k, "Boundary", b)}
%!     want = f{1} (single (x), double (single (value{1})));
%!     assert (same_bits (f{1} (single (x), value{1}), want));
%!   endfor
%! endfor
%! ## Too large for a single: infinite there, and 0 * Inf is NaN.
%! assert (ConvolutionConstantMemory_CUDA (single (1:3), [1 1 0], "Boundary", 1e300), single ([Inf 3 NaN]));
%! assert (ConvolutionConstantMemory_CUDA (single (1:3), [0 1 1], "Boundary", 1e300), single ([NaN 5 Inf]));

%!test # samples outside are multiplied: an infinity there, a tap of 0
%! y = StencilConstantMemory_CUDA (1:6, [0 1 1], "Boundary", Inf);
%! assert (y, [NaN 5 7 9 11 Inf]);
%! y = StencilConstantMemory_CUDA (1:6, [0 1 0], "Boundary", NaN);
%! assert (y, [NaN 2 3 4 5 NaN]);
%! y = StencilConstantMemory_CUDA ([1 2 3 Inf], [0 1 0], "Boundary", "circular");
%! assert (y, [NaN 2 NaN Inf]);
%! y = StencilConstantMemory_CUDA (1:6, [Inf 1 1], "Boundary", 1);
%! assert (y, Inf (1, 6));

## --- Boundary: an array that was extended before gives the same inside ------------

%!test
%! lengths = [5, 639:641, 4000, 70001];
%! [rows, cols] = deal (900, 350);
%! [height, width] = deal (700, 301);
%! volume = [61 83 4];
%! if (is_small ())
%!   lengths(end) = 7001;
%!   [rows, cols] = deal (150, 141);
%!   [height, width] = deal (139, 77);
%!   volume = [33 41 3];
%! endif
%! for b = {2.5, "replicate", "symmetric", "circular"}
%!   for m = [3 9 21]
%!     r = (m - 1) / 2;
%!     k = noise (m, 1, m);
%!     for n = lengths
%!       x = noise (n, 1, n);
%!       y = StencilConstantMemory_CUDA (extended (x, [0 r], b{1}), k)(1+r:end-r);
%!       [yes, why] = same_bits (StencilConstantMemory_CUDA (x, k, "Boundary", b{1}), y);
%!       assert (yes, "%d taps over %d: %s", m, n, why);
%!     endfor
%!     x = noise (m, rows, cols);
%!     y = StencilConstantMemory_CUDA (extended (x, [r 0], b{1}), k)(1+r:end-r,:);
%!     assert (same_bits (StencilConstantMemory_CUDA (x, k, "Boundary", b{1}), y));
%!     y = StencilConstantMemory_CUDA (extended (x, [0 r], b{1}), k, "Dim", 2)(:,1+r:end-r);
%!     assert (same_bits (StencilConstantMemory_CUDA (x, k, "Boundary", b{1}, "Dim", 2), y));
%!   endfor
%!   for type = {"double", "single"}
%!     f = cast (noise (5, height, width), type{1});
%!     y = DerivativeConstantMemory_CUDA (extended (f, [4 0], b{1}), 0.1)(5:end-4,:);
%!     assert (same_bits (DerivativeConstantMemory_CUDA (f, 0.1, "Boundary", b{1}), y));
%!     y = DerivativeConstantMemory_CUDA (extended (f, [0 4], b{1}).', 0.1)(5:end-4,:).';
%!     assert (same_bits (DerivativeConstantMemory_CUDA (f, 0.1, "Boundary", b{1}, "Dim", 2), y));
%!     for s = {[3 3], [15 15], [1 7], [3 5 7]}
%!       r = ([s{1}, 1](1:3) - 1) / 2;
%!       entries = noise (6, s{1});
%!       n = cast (noise (7, volume), type{1});
%!       y = ConvolutionConstantMemory_CUDA (extended (n, r, b{1}), entries);
%!       y = y(1+r(1):end-r(1),1+r(2):end-r(2),1+r(3):end-r(3));
%!       [yes, why] = same_bits (ConvolutionConstantMemory_CUDA (n, entries, "Boundary", b{1}), y);
%!       assert (yes, why);
%!     endfor
%!   endfor
%! endfor

%!test # zeros, named, are what a call without the option has
%! x = noise (1, 50, 40);
%! assert (same_bits (StencilConstantMemory_CUDA (x, [1 2 3], "Boundary", 0), StencilConstantMemory_CUDA (x, [1 2 3])));
%! assert (same_bits (DerivativeConstantMemory_CUDA (x, "Boundary", 0), DerivativeConstantMemory_CUDA (x)));
%! assert (same_bits (ConvolutionConstantMemory_CUDA (x, [1 2 3], "Boundary", 0), ...
%!                    ConvolutionConstantMemory_CUDA (x, [1 2 3])));

%!test # where the image package is at hand: imfilter's words
%! try
%!   pkg load image
%! catch
%!   return;
%! end_try_catch
%! x = magic (12)(:,1:9);
%! f = reshape (1:15, 3, 5);
%! for b = {0, 3, "replicate", "symmetric", "circular"}
%!   assert (ConvolutionConstantMemory_CUDA (x, f, "Boundary", b{1}), imfilter (x, f, b{1}));
%! endfor
%! pkg unload image

## --- Dim ----------------------------------------------------------------------

%!test # along any dimension of an array: as a permuted one down its columns
%! sizes = {[6 5 4 3], [1 5 1 7], [4 33], [2 1 300], [65 66 3]};
%! for s = sizes
%!   x = noise (1, s{1});
%!   for dim = 1:6
%!     order = [dim, 1:dim-1, dim+1:6];
%!     for b = {0, "symmetric"}
%!       y = StencilConstantMemory_CUDA (permute (x, order), [1 2 -3 4 5], "Dim", 1, "Boundary", b{1});
%!       y = ipermute (y, order);
%!       [yes, why] = same_bits (StencilConstantMemory_CUDA (x, [1 2 -3 4 5], "Dim", dim, "Boundary", b{1}), y);
%!       assert (yes, "dim %d of %s: %s", dim, mat2str (s{1}), why);
%!       for f = {x, single(x)}
%!         y = ipermute (DerivativeConstantMemory_CUDA (permute (f{1}, order), 2, "Dim", 1, "Boundary", b{1}), order);
%!         [yes, why] = same_bits (DerivativeConstantMemory_CUDA (f{1}, 2, "Dim", dim, "Boundary", b{1}), y);
%!         assert (yes, "dim %d of %s %s: %s", dim, mat2str (s{1}), class (f{1}), why);
%!       endfor
%!     endfor
%!   endfor
%! endfor

%!test # and by the other way, for every boundary
%! for b = {0, Inf, -2.5, "replicate", "symmetric", "circular"}
%!   for dim = 1:5
%!     if (! takes ("along", b, dim))
%!       continue
%!     endif
%!     agrees (noise (1, 5, 6, 7), noise (2, 1, 7), "Dim", dim, "Boundary", b{1});
%!     agrees (noise (1, 1, 6, 1, 3), noise (2, 1, 21), "Dim", dim, "Boundary", b{1});
%!     agrees (noise (1, 70, 40), noise (2, 1, 3), "Dim", dim, "Boundary", b{1});
%!     agrees (3, noise (2, 1, 3), "Dim", dim, "Boundary", b{1});
%!     agrees_with (@fma_derivative, "DerivativeConstantMemory_CUDA", ...
%!                  {noise(1, 5, 6, 7), 0.7, "Dim", dim, "Boundary", b{1}});
%!     agrees_with (@fma_derivative, "DerivativeConstantMemory_CUDA", ...
%!                  {single(noise (1, 5, 40)), "Dim", dim, "Boundary", b{1}});
%!   endfor
%! endfor

%!test # a dimension of 1, or one that the array has not: lines of one sample
%! x = noise (1, 4, 5);
%! for dim = {3, 4, 100, 1e9, int32(7)}
%!   assert (same_bits (StencilConstantMemory_CUDA (x, [1 2 3], "Dim", dim{1}), 2 * x));
%!   assert (StencilConstantMemory_CUDA (magic (4), [1 2 3], "Dim", dim{1}, "Boundary", "replicate"), 6 * magic (4));
%!   assert (StencilConstantMemory_CUDA (magic (4), [1 2 3], "Dim", dim{1}, "Boundary", 1), 2 * magic (4) + 4);
%!   assert (DerivativeConstantMemory_CUDA (x, "Dim", dim{1}), zeros (4, 5));
%!   assert (DerivativeConstantMemory_CUDA (single (x), "Dim", dim{1}, "Boundary", 8), zeros (4, 5, "single"));
%! endfor
%! assert (StencilConstantMemory_CUDA (1:5, [1 2 3], "Dim", 1), 2:2:10);
%! assert (StencilConstantMemory_CUDA ((1:5)', [1 2 3], "Dim", 2), (2:2:10)');

%!test # the first that is not 1, named, is what a call without the option has
%! for s = {[1 9], [9 1], [4 5], [1 1 6 2], [1 1]}
%!   x = noise (1, s{1});
%!   dim = find ([s{1} != 1, true], 1);
%!   assert (same_bits (StencilConstantMemory_CUDA (x, [1 2 3], "Dim", dim), StencilConstantMemory_CUDA (x, [1 2 3])));
%!   assert (same_bits (DerivativeConstantMemory_CUDA (x, "Dim", dim), DerivativeConstantMemory_CUDA (x)));
%! endfor

%!test # values that Octave stores in ways of its own
%! agrees (1:30, [1 2 3], "Dim", 2, "Boundary", "circular");
%! agrees (eye (7), [1 2 3], "Dim", 2, "Boundary", "symmetric", "Iterations", 2);
%! agrees (eye (5)([3 1 2 5 4],:), [1 2 3], "Dim", 2);

## --- Iterations ---------------------------------------------------------------

%!function y = again (f, x, count)
%!  y = x;
%!  for i = 1:count
%!    y = f (y);
%!  endfor
%!endfunction

%!test # so many sweeps are so many calls
%! counts = {[1 2 3 8 25], [1 2 7]}{1 + is_small ()};
%! for b = {0, 2.5, -Inf, "replicate", "symmetric", "circular"}
%!   for s = {[1 1], [1 30], [7 1], [40 9], [3 5 4], [1 2 33], [200 31]}
%!     for m = [1 3 9 21]
%!       taps = noise (m, 1, m) / 2 ^ 20;
%!       x = noise (7, s{1});
%!       for options = {{}, {"Dim", 1}, {"Dim", 2}, {"Dim", 3}}
%!         if (! takes ("sweeps", b, s, m, options))
%!           continue
%!         endif
%!         f = @(x, varargin) StencilConstantMemory_CUDA (x, taps, "Boundary", b{1}, options{1}{:}, varargin{:});
%!         for count = counts
%!           [yes, why] = same_bits (f (x, "Iterations", count), again (f, x, count));
%!           assert (yes, "%d sweeps of %d taps over %s: %s", count, m, mat2str (s{1}), why);
%!         endfor
%!       endfor
%!     endfor
%!   endfor
%! endfor

%!test # by the other way
%! for b = {0, -0.7, NaN, "replicate", "symmetric", "circular"}
%!   agrees (noise (1, 1, 90), noise (2, 1, 5), "Boundary", b{1}, "Iterations", 4);
%!   agrees (noise (1, 20, 6), noise (2, 1, 9), "Boundary", b{1}, "Iterations", 5, "Dim", 2);
%!   agrees (noise (1, 4, 5, 6), noise (2, 1, 13), "Boundary", b{1}, "Iterations", 3, "Dim", 3);
%!   for n = {noise(1, 12, 9), noise(1, 5, 4, 6), single(noise (1, 9, 9))}
%!     for s = {[3 3], [5 1], [3 3 3]}
%!       if (takes ("swept", b, {size(n{1}), class(n{1})}, s))
%!         agrees_with (@fma_convolution, "ConvolutionConstantMemory_CUDA", ...
%!                      {n{1}, noise(2, s{1}), "Boundary", b{1}, "Iterations", 3});
%!       endif
%!     endfor
%!   endfor
%! endfor

%!test # convolutions: so many sweeps are so many calls
%! shapes = {[1 1], [1 30], [7 1], [40 9], [3 5 4], [70 65], [17 16 9]};
%! counts = [1 2 5];
%! if (is_small ())
%!   shapes(end-1:end) = {[33 17], [9 8 5]};
%!   counts = [1 3];
%! endif
%! for b = {0, 2.5, -Inf, "replicate", "symmetric", "circular"}
%!   for s = shapes
%!     for e = {[1 1], [3 3], [5 3], [15 15], [3 3 3], [1 1 7]}
%!       if (! takes ("swept convolutions", b, s, e))
%!         continue
%!       endif
%!       entries = noise (5, e{1}) / 2 ^ 20;
%!       for x = {noise(7, s{1}), single(noise (7, s{1}))}
%!         f = @(x, varargin) ConvolutionConstantMemory_CUDA (x, entries, "Boundary", b{1}, varargin{:});
%!         for count = counts
%!           [yes, why] = same_bits (f (x{1}, "Iterations", count), again (f, x{1}, count));
%!           assert (yes, "%d sweeps of %s over %s %s: %s", count, mat2str (e{1}), mat2str (s{1}), class (x{1}), why);
%!         endfor
%!       endfor
%!     endfor
%!   endfor
%! endfor

%!test # arrays that are worked on in pieces, by several threads
%! shapes = {[1 300001], [40001 7], [3 90001], [511 513]};
%! images = {noise(1, 517, 613), single(noise (1, 301, 83, 9))};
%! if (is_small ())
%!   shapes = {[1 30001], [4001 7], [3 7001], [131 133]};
%!   images = {noise(1, 117, 113), single(noise (1, 61, 33, 5))};
%! endif
%! for b = {0, "replicate", "symmetric", "circular"}
%!   for m = [3 21]
%!     taps = noise (m, 1, m) / 2 ^ 20;
%!     for s = shapes
%!       x = noise (m, s{1});
%!       for dim = 1:2
%!         f = @(x, varargin) StencilConstantMemory_CUDA (x, taps, "Boundary", b{1}, "Dim", dim, varargin{:});
%!         [yes, why] = same_bits (f (x, "Iterations", 6), again (f, x, 6));
%!         assert (yes, "%d taps over %s: %s", m, mat2str (s{1}), why);
%!       endfor
%!     endfor
%!   endfor
%!   f = @(x, varargin) ConvolutionConstantMemory_CUDA (x, noise (9, 5, 5) / 2 ^ 20, "Boundary", b{1}, varargin{:});
%!   for x = images
%!     assert (same_bits (f (x{1}, "Iterations", 4), again (f, x{1}, 4)));
%!   endfor
%! endfor

%!test # none: the input, to the last bit
%! x = noise (1, 6, 7);
%! x([3 9 17]) = [-0, Inf, -Inf];
%! x(20) = 2 ^ -1074;
%! for v = {x, [], zeros(0, 3), zeros(2, 0, 3), 1:9, eye(4), -0, NaN}
%!   for b = {0, NaN, "circular"}
%!     for options = {{}, {"Dim", 2}, {"Dim", 5}, {"Progress", true}}
%!       y = StencilConstantMemory_CUDA (v{1}, [Inf 2 NaN], "Iterations", 0, "Boundary", b{1}, options{1}{:});
%!       [yes, why] = same_bits (y, full (v{1}));
%!       assert (yes, why);
%!     endfor
%!     y = ConvolutionConstantMemory_CUDA (v{1}, [Inf 2 NaN], "Iterations", 0, "Boundary", b{1});
%!     assert (same_bits (y, full (v{1})));
%!     y = ConvolutionConstantMemory_CUDA (single (full (v{1})), [Inf 2 NaN], "Iterations", 0, "Boundary", b{1});
%!     assert (same_bits (y, single (full (v{1}))));
%!   endfor
%! endfor
%! ## A filter that is single makes the result single, as in any other call.
%! y = ConvolutionConstantMemory_CUDA (pi, single (2), "Iterations", 0);
%! assert (same_bits (y, single (pi)));
%! ## It is a copy.
%! x = noise (1, 1, 1e5);
%! keep = x + 0;
%! y = StencilConstantMemory_CUDA (x, 1, "Iterations", 0);
%! y(:) = 0;
%! assert (same_bits (x, keep));

%!test # nothing to compute, as often as one likes
%! for s = {[0 0], [0 1], [1 0], [0 5], [5 0], [3 0 2], [0 0 4]}
%!   for b = {0, 3, "replicate", "symmetric", "circular"}
%!     x = zeros (s{1});
%!     for options = {{}, {"Dim", 1}, {"Dim", 2}, {"Dim", 3}, {"Dim", 9}, {"Iterations", 5}, ...
%!                    {"Iterations", 1e9, "Dim", 2}}
%!       assert (same_bits (StencilConstantMemory_CUDA (x, [1 2 3], "Boundary", b{1}, options{1}{:}), x));
%!     endfor
%!     for options = {{}, {"Dim", 1}, {"Dim", 2}, {"Dim", 3}, {"Dim", 9}}
%!       assert (same_bits (DerivativeConstantMemory_CUDA (x, "Boundary", b{1}, options{1}{:}), x));
%!     endfor
%!     for options = {{}, {"Iterations", 5}, {"Iterations", 1e9}}
%!       assert (same_bits (ConvolutionConstantMemory_CUDA (x, [1 2 3], "Boundary", b{1}, options{1}{:}), x));
%!     endfor
%!   endfor
%! endfor

%!test # what is not finite travels by a radius a sweep, and no further
%! x = ones (1, 60);
%! x(30) = NaN;
%! y = StencilConstantMemory_CUDA (x, [1 1 1] / 3, "Iterations", 7, "Boundary", "replicate");
%! assert (find (isnan (y)), 23:37);
%! y = StencilConstantMemory_CUDA (ones (1, 60), [1 1 1], "Iterations", 5, "Boundary", NaN);
%! assert (find (isnan (y)), [1:5, 56:60]);
%! y = StencilConstantMemory_CUDA (ones (1, 60), [1 1 1], "Iterations", 5, "Boundary", Inf);
%! assert (find (isinf (y)), [1:5, 56:60]);
%! y = ConvolutionConstantMemory_CUDA (ones (20), ones (3), "Iterations", 3, "Boundary", NaN);
%! assert (! isnan (y), [false(3, 20); false(14, 3), true(14), false(14, 3); false(3, 20)]);
%! y = StencilConstantMemory_CUDA (x, [1 1 1] / 3, "Iterations", 7, "Boundary", "circular");
%! x = circshift (x, 30);
%! y = StencilConstantMemory_CUDA (x, [1 1 1] / 3, "Iterations", 7, "Boundary", "circular");
%! assert (find (isnan (y)), [1:7, 53:60]);

## --- Names and values ------------------------------------------------------------

%!test # any case, any prefix that only one name has, any order; the last of two counts
%! x = noise (1, 6, 7);
%! want = StencilConstantMemory_CUDA (x, [1 2 3], "Boundary", "circular", "Dim", 2, "Iterations", 3, "Progress", false);
%! names = {"boundary", "dim", "iterations", "progress"; "BO", "DI", "I", "P"; ...
%!          "Bound", "dI", "iTER", "prog"; 'bo', 'di', 'i', 'p'};
%! for row = names.'
%!   values = {"CIRCULAR", 2, 3, false};
%!   pairs = [row.'; values];
%!   assert (same_bits (StencilConstantMemory_CUDA (x, [1 2 3], pairs{:}), want));
%!   pairs = pairs(:,[3 1 4 2]);
%!   assert (same_bits (StencilConstantMemory_CUDA (x, [1 2 3], "Dim", 1, "Boundary", 5, pairs{:}), want));
%! endfor
%! for word = {"Replicate", 'REPLICATE', "replicate"}
%!   assert (StencilConstantMemory_CUDA (1:4, [1 0 0], "bo", word{1}), [1 1 2 3]);
%! endfor
%! want = DerivativeConstantMemory_CUDA (x, 1, "Boundary", "circular", "Dim", 2);
%! for pairs = {{"bo", "Circular", "di", 2}, {"DIM", 2, "back", "auto", "BOUND", 'circular'}, ...
%!              {"c", "readonly", "bo", "circular", "dim", 2}}
%!   if (strcmp (pairs{1}{min (end, 4)}, "auto") && ! has_gpu ())
%!     pairs{1}(3:4) = {"back", "cpu"};
%!   endif
%!   assert (same_bits (DerivativeConstantMemory_CUDA (x, pairs{1}{:}), want));
%!   assert (same_bits (DerivativeConstantMemory_CUDA (x, 1, pairs{1}{:}), want));
%! endfor
%! want = ConvolutionConstantMemory_CUDA (x, [1 2 3], "Boundary", "circular", "Iterations", 2);
%! assert (same_bits (ConvolutionConstantMemory_CUDA (x, [1 2 3], "i", 2, "BO", "circular", "p", 0), want));

%!test # whole numbers and truths of any numeric class
%! x = noise (1, 6, 7);
%! want = StencilConstantMemory_CUDA (x, [1 2 3], "Dim", 2, "Iterations", 2);
%! for type = {"single", "int8", "uint16", "int32", "uint64"}
%!   two = cast (2, type{1});
%!   for progress = {true, false, 0, 1, cast(1, type{1})}
%!     y = StencilConstantMemory_CUDA (x, [1 2 3], "Dim", two, "Iterations", two, "Progress", progress{1});
%!     assert (same_bits (y, want));
%!   endfor
%! endfor
%! assert (same_bits (StencilConstantMemory_CUDA (x, [1 2 3], "Dim", true, "Iterations", true), ...
%!                    StencilConstantMemory_CUDA (x, [1 2 3])));

## --- Inputs stay what they were, outputs are the caller's ---------------------------

%!test
%! x = noise (1, 300, 200);
%! keep = typecast (x(:), "uint64");
%! alias = x;
%! y = StencilConstantMemory_CUDA (x, [1 2 1] / 4, "Iterations", 9, "Dim", 2, "Boundary", "symmetric");
%! z = ConvolutionConstantMemory_CUDA (x, ones (3) / 9, "Iterations", 9, "Boundary", "symmetric");
%! d = DerivativeConstantMemory_CUDA (x, "Dim", 2, "Boundary", "symmetric");
%! assert (typecast (x(:), "uint64"), keep);
%! assert (typecast (alias(:), "uint64"), keep);
%! w = y;
%! w(:) = 0;
%! assert (same_bits (y, StencilConstantMemory_CUDA (x, [1 2 1] / 4, "Iterations", 9, "Dim", 2, ...
%!                                                   "Boundary", "symmetric")));
%! x = StencilConstantMemory_CUDA (x, [1 2 1] / 4, "Iterations", 9, "Dim", 2, "Boundary", "symmetric");
%! assert (same_bits (x, y));

## --- Both engines --------------------------------------------------------------------

%!testif ; has_gpu ()  # needs a GPU
%! shapes = {[1 700001], [1001 603], [5 7 3001], [2 3]};
%! if (on_stand_in ())
%!   shapes = {[1 3001], [71 43], [5 7 21], [2 3]};
%! endif
%! for b = {0, 2.5, "replicate", "symmetric", "circular"}
%!   for s = shapes
%!     x = noise (3, s{1});
%!     for dim = 1:3
%!       if (! takes ("both engines", b, s, dim))
%!         continue
%!       endif
%!       for m = [3 21]
%!         options = {"Boundary", b{1}, "Dim", dim, "Iterations", 11};
%!         taps = noise (m, 1, m) / 2 ^ 20;
%!         [yes, why] = same_bits (StencilConstantMemory_CUDA (x, taps, options{:}, "Backend", "cuda"), ...
%!                                 StencilConstantMemory_CUDA (x, taps, options{:}, "Backend", "cpu"));
%!         assert (yes, why);
%!       endfor
%!       for f = {x, single(x)}
%!         [yes, why] = same_bits (DerivativeConstantMemory_CUDA (f{1}, 0.1, options{1:4}, "Backend", "cuda"), ...
%!                                 DerivativeConstantMemory_CUDA (f{1}, 0.1, options{1:4}, "Backend", "cpu"));
%!         assert (yes, why);
%!       endfor
%!     endfor
%!     for e = {[3 3], [15 15], [3 5 7]}
%!       if (! takes ("both engines, convolutions", b, s, e))
%!         continue
%!       endif
%!       options = {"Boundary", b{1}, "Iterations", 3};
%!       f = noise (4, e{1}) / 2 ^ 20;
%!       [yes, why] = same_bits (ConvolutionConstantMemory_CUDA (x, f, options{:}, "Backend", "cuda"), ...
%!                               ConvolutionConstantMemory_CUDA (x, f, options{:}, "Backend", "cpu"));
%!       assert (yes, why);
%!     endfor
%!   endfor
%! endfor

## --- The engine that takes less time -------------------------------------------------

%!test # 'fastest' gives the bits of any engine, again and again, whatever it chooses
%! x = noise (5, 1, {2e6, 2e5}{1 + is_small ()});
%! image = noise (6, {[700 900], [140 90]}{1 + is_small ()});
%! calls = {"StencilConstantMemory_CUDA",     {x, noise(1, 1, 21)}
%!          "StencilConstantMemory_CUDA",     {x, noise(2, 1, 3), "Iterations", 7, "Boundary", "circular"}
%!          "StencilConstantMemory_CUDA",     {image, noise(3, 1, 5), "Dim", 2, "Shape", "valid"}
%!          "StencilConstantMemory_CUDA",     {image, 1, "Iterations", 0}
%!          "DerivativeConstantMemory_CUDA",  {single(x), 0.5}
%!          "ConvolutionConstantMemory_CUDA", {image, noise(4, 7, 7)}
%!          "ConvolutionConstantMemory_CUDA", {single(image), noise(4, 3, 5), "Iterations", 3, "Boundary", "symmetric"}
%!          "ConvolutionConstantMemory_CUDA", {uint8(255 * abs (image)), ones(5) / 25, "Iterations", 2}
%!          "ConvolutionConstantMemory_CUDA", {zeros(0, 3), ones(3)}};
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   want = feval (name, inputs{:}, "Backend", "cpu");
%!   for i = 1:7
%!     [yes, why] = same_bits (feval (name, inputs{:}, "Backend", "Fastest"), want);
%!     assert (yes, "%s, call %d: %s", name, i, why);
%!   endfor
%! endfor

%!test # what it chose is told in the trace: small calls are the CPU's
%! [status, out] = run_octave ({
%!   "StencilConstantMemory_CUDA (1:1000, [1 2 1], 'Backend', 'fastest');"
%!   "ConvolutionConstantMemory_CUDA (uint8 (magic (4)), ones (3));"
%!   "DerivativeConstantMemory_CUDA (single (1:9));"
%!   "StencilConstantMemory_CUDA (1:1000, [1 2 1], 'Backend', 'cpu');"}, ...
%!   {"STENCIL_TRACE=1", "STENCIL_BACKEND=fastest"});
%! assert (status == 0, "status %d: %s", status, out);
%! told = regexp (out, '(\w+): fastest: cpu, so little is done there', "tokens");
%! names = {"StencilConstantMemory_CUDA", "ConvolutionConstantMemory_CUDA", "DerivativeConstantMemory_CUDA"};
%! assert (isequal ([told{:}], names), "it printed: %s", out);
%! assert (isempty (strfind (out, "warning")), out);

%!test # nothing is told of it without a trace, nor of other backends
%! [status, out] = run_octave ("StencilConstantMemory_CUDA (ones (1, 3e5), [1 2 1], 'Backend', 'fastest');");
%! assert (isempty (strfind (out, "fastest")), out);
%! [status, out] = run_octave ("StencilConstantMemory_CUDA (ones (1, 3e5), [1 2 1], 'Backend', 'cpu');", ...
%!                             {"STENCIL_TRACE=1"});
%! assert (isempty (strfind (out, "fastest")), out);

%!testif ; ! has_gpu ()  # needs a machine without a usable GPU
%! [status, out] = run_octave ({
%!   "if (true)"  # read as one: later Octaves keep what they could warn of while they read
%!   "lastwarn ('');"
%!   "x = ones (1, 3e5); y = StencilConstantMemory_CUDA (x, [1 2 1], 'Backend', 'fastest');"
%!   "info = ConstantMemoryDevice_CUDA (); printf ('<%s> <%s>\\n', info.Backend, lastwarn ());"
%!   "u = DeviceArray (x); printf ('<%d>\\n', device (u));"
%!   "end"}, {"STENCIL_TRACE=1", "STENCIL_BACKEND=fastest"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "StencilConstantMemory_CUDA: fastest: cpu, for there is no other: ")), out);
%! assert (! isempty (strfind (out, "<cpu> <>")), out);
%! assert (! isempty (strfind (out, "<0>")), out);
%! fails ("StencilConstantMemory_CUDA", "noDevice", {ones(1, 3e5), 1, "Backend", "fastest", "Device", 1});

%!testif ; has_gpu ()  # needs a GPU
%! ## Each engine is tried, both times are traced, and the quicker one stays.
%! [status, out] = run_octave ({
%!   "x = ones (1, 3e5); k = ones (1, 21); took = [Inf Inf]; names = {'cpu', 'cuda'};"
%!   "f = @(backend) StencilConstantMemory_CUDA (x, k, 'Backend', backend);"
%!   "for i = 1:4, for b = 1:2, t = tic (); y = f (names{b}); took(b) = min (took(b), toc (t)); end, end"
%!   "for i = 1:8, y = f ('fastest'); end"
%!   "printf ('<<%g>>\\n', took(1) / took(2));"
%!   "y = ConvolutionConstantMemory_CUDA (ones (300), ones (9), 'Backend', 'fastest', 'Device', 1);"
%!   "info = ConstantMemoryDevice_CUDA (); printf ('<%s>\\n', info.Backend);"
%!   "u = DeviceArray (x); printf ('<%d>\\n', device (u));"
%!   "v = StencilConstantMemory_CUDA (u, k);"
%!   "disp (isequal (y, ConvolutionConstantMemory_CUDA (ones (300), ones (9), 'Backend', 'cpu')));"},
%!   {"STENCIL_TRACE=1", "STENCIL_BACKEND=fastest"});
%! assert (status == 0, out);
%! told = regexp (out, 'fastest: (cpu|cuda), of cpu [\d.]+ ms \((\w+)\) and cuda [\d.]+ ms \((\w+)\)', "tokens");
%! assert (numel (told) == 9, out);
%! for i = 1:3
%!   assert (isequal (told{i}, {told{1}{1}, "guessed", "guessed"}), out);
%! endfor
%! ## Each is measured by three calls.
%! assert (isequal (told{7}(2:3), {"measured", "measured"}), out);
%! assert (isequal (told{8}, told{7}), out);
%! ratio = str2double (regexp (out, '<<([\d.e+-]+)>>', "tokens", "once"));
%! if (ratio < 1 / 2 || ratio > 2)
%!   assert (strcmp (told{8}{1}, {"cpu", "cuda"}{1 + (ratio > 1)}), out);
%! endif
%! assert (! isempty (strfind (out, "<fastest>")), out);
%! assert (! isempty (strfind (out, "<1>")), out);
%! assert (! isempty (strfind (out, "StencilConstantMemory_CUDA: fastest: cuda, where the array lies: device 1")), out);

%!test # data decide where they lie, and a DeviceArray is not for one call
%! x = noise (7, 1, 50);
%! u = DeviceArray (x, "Backend", "cpu");
%! y = StencilConstantMemory_CUDA (u, [1 2 1], "Backend", "fastest");
%! assert (isa (y, "DeviceArray") && device (y) == 0);
%! assert (same_bits (gather (y), StencilConstantMemory_CUDA (x, [1 2 1], "Backend", "cpu")));
%! for make = {@() DeviceArray(x, "Backend", "fastest"), @() DeviceArray.zeros(3, "Backend", "FASTEST")}
%!   try
%!     make{1} ();
%!     error ("options:none", "no error");
%!   catch err
%!     assert (err.identifier, "DeviceArray:option", err.message);
%!     assert (! isempty (strfind (err.message, "expected 'auto' or 'cuda' or 'cpu' for a DeviceArray")), err.message);
%!   end_try_catch
%! endfor

%!test # the list of words has it
%! try
%!   StencilConstantMemory_CUDA (1:3, 1, "Backend", "faster");
%!   error ("options:none", "no error");
%! catch err
%!   assert (! isempty (strfind (err.message, "expected 'auto' or 'cuda' or 'cpu' or 'fastest'")), err.message);
%! end_try_catch

%!test # a value that stands for an option, alone at the end
%! for given = {@() DerivativeConstantMemory_CUDA(1:9, 0.1, 'circular'), "'Boundary', 'circular'"
%!              @() DeviceArray(1:3, 'cpu'), "'Backend', 'cpu'"}.'
%!   caught = [];
%!   try
%!     given{1} ();
%!   catch caught
%!   end_try_catch
%!   assert (! isempty (strfind (caught.message, given{2})), "%s", caught.message);
%! endfor
