## StencilConstantMemory_CUDA computes, bit for bit, the chain of the contract.

## --- The document's example, and plain facts to read ------------------------

%!assert (StencilConstantMemory_CUDA (ones (1, 20), ones (1, 11)), ...
%!        [6 7 8 9 10 11 11 11 11 11 11 11 11 11 11 10 9 8 7 6])
%!assert (StencilConstantMemory_CUDA (1:5, 1), 1:5)
%!assert (StencilConstantMemory_CUDA (1:5, [1 0 0]), [0 1 2 3 4])
%!assert (StencilConstantMemory_CUDA (1:5, [0 0 1]), [2 3 4 5 0])
%!assert (StencilConstantMemory_CUDA ([0 0 1 0 0], [1 2 3]), [0 3 2 1 0])

%!test # the taps may lie either way; the output follows the input
%! assert (StencilConstantMemory_CUDA (1:4, [1; 2; 3]), [8 14 20 11]);
%! assert (StencilConstantMemory_CUDA ((1:4)', [1 2 3]), [8; 14; 20; 11]);
%!assert (StencilConstantMemory_CUDA (1:4, [1 1] / 2), [1.5 2.5 3.5 2])
%!assert (StencilConstantMemory_CUDA (1:5, [1 0 0 0]), [0 1 2 3 4])
%!assert (StencilConstantMemory_CUDA (1:5, [0 1 0 0]), 1:5)
%!assert (StencilConstantMemory_CUDA (1:4, [1 10 100 1000], "conv"), [123 1234 2340 3400])
%!assert (StencilConstantMemory_CUDA (single (1:5), [1 2 1]), single ([4 8 12 16 14]))
%!assert (StencilConstantMemory_CUDA ([1+2i, 3-4i], [1 10 100]), [310-380i, 31-38i])

%!test # no output asked for: ans is set
%! StencilConstantMemory_CUDA (1:3, 2);
%! assert (ans, [2 4 6]);

%!test # each column a line, and a row one line
%! x = reshape (1:12, 4, 3);
%! assert (StencilConstantMemory_CUDA (x, [1 0 0]), [0 0 0; x(1:3,:)]);
%! assert (StencilConstantMemory_CUDA (x(:).', [1 0 0]), [0, 1:11]);

%!test # as filter does, the first dimension that is not 1
%! x = reshape (1:24, 1, 1, 4, 6);
%! y = StencilConstantMemory_CUDA (x, [0 0 1]);
%! assert (y(1,1,1:3,:), x(1,1,2:4,:));
%! assert (all (y(1,1,4,:) == 0));

## --- Every odd tap count, lengths 0 to 70, both ways round -------------------

%!test
%! for m = 1:2:21
%!   taps = noise (m, 1, m);
%!   for n = 0:70
%!     if (! takes ("lengths", m, n))
%!       continue
%!     endif
%!     agrees (noise (1000 + n, 1, n), taps);
%!   endfor
%! endfor

%!test
%! for m = 1:2:21
%!   taps = noise (m, m, 1);
%!   for n = [0:3, 9:12, 19:23, 31:33, 63:65]
%!     if (! takes ("columns", m, n))
%!       continue
%!     endif
%!     agrees (noise (2000 + n, n, 1), taps);
%!   endfor
%! endfor

%!test # scalars: only the middle tap meets the sample, all taps meet zeros
%! for m = 1:2:21
%!   agrees (pi, noise (m, 1, m));
%! endfor

## --- Lengths on either side of a tile, of 2^15 and of 2^18 -------------------

%!test
%! for m = [1 3 11 21]
%!   taps = noise (m, 1, m);
%!   for n = [620:20:660, 639, 641, 1259:1300:2559, 1279:1281, 1919:1921, 6399:6401]
%!     if (takes ("tiles", m, n))
%!       agrees (noise (n, 1, n), taps);
%!     endif
%!   endfor
%! endfor

%!test
%! for m = [3 21]
%!   taps = noise (m, 1, m);
%!   for n = 2 ^ 15 + [-1 0 1 11]
%!     agrees (noise (n, n, 1), taps);
%!   endfor
%! endfor

%!test
%! for n = 2 ^ 18 + [-1 0 1 10]
%!   agrees (noise (n, 1, n), noise (3, 1, 3));
%! endfor

%!test # long lines equal their own pieces, wherever these are cut
%! n = 2 ^ 19 + 77;
%! x = noise (5, 1, n);
%! for m = [5 21]
%!   taps = noise (m, 1, m);
%!   r = (m - 1) / 2;
%!   y = StencilConstantMemory_CUDA (x, taps);
%!   for step = [9973, 262144, 400000]
%!     for first = 1:step:n
%!       last = min (first + step - 1, n);
%!       lo = max (first - r, 1);
%!       part = StencilConstantMemory_CUDA (x(lo:min (last + r, n)), taps);
%!       part = part(first-lo+1:last-lo+1);
%!       [yes, why] = same_bits (y(first:last), part);
%!       assert (yes, "%d taps, %d to %d: %s", m, first, last, why);
%!     endfor
%!   endfor
%! endfor

%!test # whole numbers are exact by any method: a large array against conv
%! x = mod (1:{3000003, 300003}{1 + is_small ()}, 1013) - 500;
%! taps = [1:10, -7, 3:12];
%! y = StencilConstantMemory_CUDA (x, taps);
%! assert (isequal (y, conv (x, fliplr (taps), "same")));

%!test # a large matrix: lines must not bleed into each other
%! x = mod (reshape (1:1500*1100, 1500, 1100), 1013) - 500;
%! taps = [1:10, -7, 3:12];
%! y = StencilConstantMemory_CUDA (x, taps);
%! assert (isequal (y, conv2 (x, flipud (taps(:)), "same")));

## --- Shapes ------------------------------------------------------------------

%!test # every empty shape comes back as it went in
%! for dims = {[0 0], [0 1], [1 0], [0 3], [3 0], [0 0 0], [1 1 0], [1 0 4], ...
%!             [0 3 2], [3 0 2], [3 2 0], [1 1 0 5], [2 3 0 4]}
%!   for m = [1 3 21]
%!     y = StencilConstantMemory_CUDA (zeros (dims{1}), ones (1, m));
%!     assert (size (y), dims{1});
%!     assert (class (y), "double");
%!   endfor
%! endfor
%! assert (size (StencilConstantMemory_CUDA ([], 1)), [0 0]);
%! assert (size (StencilConstantMemory_CUDA (1:0, 1)), [1 0]);

%!test # matrices and arrays of more dimensions
%! shapes = {[7 5], [21 4], [1 1 40], [1 1 5 7], [33 1 6], [1 9 6], [5 4 3 2], ...
%!           [2 2 2 2 2], [1 1 1 1 30], [20 1 1 3], [641 3], [1 641 3], [100 100]};
%! for i = 1:numel (shapes)
%!   for m = [1 5 11 21]
%!     if (takes ("shapes", i, m))
%!       agrees (noise (i, shapes{i}), noise (m, 1, m));
%!     endif
%!   endfor
%! endfor

%!test # lines shorter than the stencil, very many of them
%! for dims = {[3 1000], [2 5000], [3 1 2000], [1 2 3000], [5 7 100], [4 20000]}
%!   for m = [1 7 21]
%!     agrees (noise (m, dims{1}), noise (m, m, 1));
%!   endfor
%! endfor

%!test # more points than one piece of work, in lines of middling length
%! agrees (noise (1, 700, 400), noise (2, 1, 5));
%! agrees (noise (1, 20000, 14), noise (2, 1, 5));

%!test # the output: double, real, full, and the input's size
%! for x = {5, 1:10, (1:10)', ones(4,5), ones(2,3,4), ones(1,1,6)}
%!   y = StencilConstantMemory_CUDA (x{1}, [1 2 1]);
%!   assert (class (y), "double");
%!   assert (isreal (y) && ! iscomplex (y));
%!   assert (! issparse (y));
%!   assert (size (y), size (x{1}));
%! endfor

## --- Values that Octave stores in ways of its own ----------------------------

%!test # ranges
%! agrees (1:10, [1 2 3]);
%! agrees (0:0.1:7, noise (1, 1, 21));
%! agrees (10:-1:1, noise (1, 1, 5));
%! agrees (-(0:5), 1);
%! agrees ((1:9)', [1 2 3]);
%! agrees (noise (1, 1, 30), 1:7);
%! agrees (1:1, 1:1);
%! assert (StencilConstantMemory_CUDA (1:4, 1:3), [8 14 20 11]);

%!test # diagonal and permutation matrices, which store a vector
%! agrees (eye (3), [1 2 3]);
%! agrees (eye (4, 6), noise (1, 1, 5));
%! agrees (3.5 * eye (30), noise (1, 1, 21));
%! agrees (diag ([1 2 3 4]), [1 2 3]);
%! agrees (eye (5)([3 1 2 5 4],:), [1 2 3]);
%! agrees (eye (5)(:,[3 1 2 5 4]), [1 2 3]);
%! [~, ~, p] = lu (magic (6));
%! agrees (p, [1 2 3]);
%! agrees (noise (1, 1, 9), eye (1));

%!test # indices, which find keeps as indices
%! agrees (find ([1 0 1 1 0 1]), [1 2 3]);
%! agrees (find (noise (1, 40, 1) > 0), noise (1, 1, 7));
%! [~, i] = sort (noise (2, 1, 50));
%! agrees (i, noise (1, 1, 7));
%! agrees (noise (1, 1, 20), find ([1 1 1]));

%!test # reshaped, transposed, permuted, sliced and repeated
%! x = noise (3, 12, 10);
%! for v = {x.', x(:), x(:).', reshape(x, 10, 12), reshape(x, 1, []), ...
%!          permute(x, [3 1 2]), permute(x, [2 3 1]), x(3:7,:), x(:,4), x(2,:), ...
%!          x(end:-1:1,:), repmat(x, 2, 3), x(13:60), squeeze(ones(1,1,9)), ...
%!          circshift(x, 3), ones(5)(:,2), cat(3, x, x)}
%!   agrees (v{1}, noise (4, 1, 9));
%! endfor
%! k = noise (4, 3, 5);
%! agrees (x, k(2,:));
%! agrees (x, k(:,2));
%! agrees (x, reshape (k, 1, 15));

## --- Arithmetic: the chain of fused steps ------------------------------------

%!test # one rounding a step, taps in ascending order, for every tap count
%! for m = 1:2:21
%!   for seed = 1:5
%!     agrees (noise (100 * m + seed, 1, 400), noise (seed, 1, m));
%!   endfor
%! endfor

%!test # cancellation keeps what an unfused product would lose
%! e = 2 ^ -30;
%! y = StencilConstantMemory_CUDA ([1 + 2 * e, 1 + e], [-1, 1 + e, 0]);
%! assert (y(2), 2 ^ -60);

%!test # the order of the taps shows where large terms cancel
%! assert (StencilConstantMemory_CUDA ([1e20, 1, -1e20], [1 1 1])(2), 0);
%! assert (StencilConstantMemory_CUDA ([1e20, -1e20, 1], [1 1 1])(2), 1);

%!test # zeros: the first step adds +0, so -0 times 1 is +0
%! y = StencilConstantMemory_CUDA ([-0 0 -0], 1);
%! assert (! any (signbit (y)));
%! agrees ([-0 -0 0 1 -1 -0], [1 -1 1]);
%! agrees ([-0 -0 0 1 -1 -0], [-0 -0 -0]);
%! agrees (-zeros (1, 50), noise (1, 1, 21));
%! agrees (noise (1, 1, 50), -zeros (1, 5));

%!test # but a negative product too small for any double is -0
%! y = StencilConstantMemory_CUDA (-1e-300, 1e-300);
%! assert (y == 0 && signbit (y) != 0);
%! agrees ([-1e-300 1e-300 2e-300 -0 0 -1e-300], [1e-300 -1e-300 1e-300]);

%!test # denormals, in and out, are kept and rounded like other numbers
%! tiny = 2 ^ -1074;
%! agrees (tiny * (1:40), 1);
%! agrees (tiny * (1:40), [0.5 0.25 0.125]);
%! agrees (tiny * (-20:20), [0.5 -1.5 0.75]);
%! agrees (realmin * noise (1, 1, 60), noise (2, 1, 7));
%! agrees (noise (1, 1, 60), tiny * (1:5));
%! agrees (2 ^ -530 * noise (1, 1, 200), 2 ^ -530 * noise (2, 1, 9));
%! agrees (realmin * [1 -1 0.5 -0.5 1.5], [1 -1 0.5]);

%!test # the call leaves the host's own arithmetic as it was
%! StencilConstantMemory_CUDA (noise (1, 1, 300000), noise (1, 1, 21));
%! assert (realmin / 2 > 0 && 2 ^ -1074 * 1.5 == 2 ^ -1073);
%! assert (1 + eps / 2 == 1 && 1 + eps * 0.75 == 1 + eps);

%!test # what is too large becomes Inf, and stays so along the chain
%! assert (StencilConstantMemory_CUDA (1e308, 10), Inf);
%! y = StencilConstantMemory_CUDA ([1e308, 0, -1e308], [10, 0, 10]);
%! assert (y(2), Inf);
%! agrees (1e307 * noise (1, 1, 100) ./ 2 ^ 10, noise (2, 1, 7));
%! agrees (realmax * [1 1 -1 1 -1 -1], [1 1 1]);
%! agrees (realmax * [1 1 -1 1 -1 -1], [2 -2 1]);

%!test # a product past the largest number may still come back in the sum
%! agrees ([realmax, -realmax / 2, realmax / 3], [-1, 2, 0.5]);
%! agrees ([-realmax, realmax, realmax], [1, 1 + eps, -0.25]);
%! assert (StencilConstantMemory_CUDA ([-realmax, realmax], [1, 1.5, 0])(2), realmax / 2);

%!test # NaN spreads as far as the taps reach, zero taps included
%! x = ones (1, 60);
%! x(30) = NaN;
%! y = StencilConstantMemory_CUDA (x, [0 0 1 2 1 0 0]);
%! assert (find (isnan (y)), 27:33);
%! agrees (x, noise (1, 1, 21));
%! agrees (NaN (1, 5), 1);
%! agrees (1:5, [1 NaN 1]);
%! x(1) = NaN;
%! x(end) = NaN;
%! agrees (x, noise (1, 1, 11));

%!test # infinite samples: Inf - Inf and 0 * Inf are NaN, the rest Inf
%! x = ones (1, 60);
%! x([20 40 45]) = [Inf -Inf Inf];
%! agrees (x, ones (1, 11));
%! agrees (x, [1 -1 0 2 1]);
%! y = StencilConstantMemory_CUDA (x, [0 1 1]);
%! assert (y(19), Inf);
%! assert (isnan (y(21)));
%! agrees (Inf (1, 9), [1 2 3]);

%!test # an infinite tap meets the zeros outside: NaN at the edges, by contract
%! y = StencilConstantMemory_CUDA (1:8, [Inf 1 1]);
%! assert (find (isnan (y)), 1);
%! assert (all (y(2:8) == Inf));
%! y = StencilConstantMemory_CUDA (1:8, [1 0 1 1 -Inf]);
%! assert (find (isnan (y)), [7 8]);
%! y = StencilConstantMemory_CUDA (ones (8, 3), [1 1 Inf]);
%! assert (isnan (y), [false(7, 3); true(1, 3)]);
%! assert (isnan (StencilConstantMemory_CUDA (7, [1 2 NaN])));
%! assert (isnan (StencilConstantMemory_CUDA (7, [Inf 2 1])));
%! agrees (noise (1, 1, 700), [1 Inf 1]);
%! agrees (noise (1, 1, 700), [1 1 1 1 -Inf 1 Inf]);

## --- Filters of any length -----------------------------------------------------

%!test # an even number of taps: the middle is the earlier of the two, as imfilter has it
%! x = noise (1, 1, 40);
%! for m = [2:2:24, 30, 31, 63, 64]
%!   k = noise (m, 1, m);
%!   c = floor ((m + 1) / 2);
%!   y = StencilConstantMemory_CUDA (x, k);
%!   for i = [1 2 17 39 40]
%!     acc = 0;
%!     for j = 1:m
%!       sample = 0;
%!       if (i + j - c >= 1 && i + j - c <= 40)
%!         sample = x(i+j-c);
%!       endif
%!       acc = exact_fma (sample, k(j), acc);
%!     endfor
%!     [yes, why] = same_bits (y(i), acc);
%!     assert (yes, "%d taps, output %d: %s", m, i, why);
%!   endfor
%! endfor

%!test # every count from 22 to 66 and every even one, both classes, both ways round
%! for m = [2:2:20, 22:66]
%!   if (! takes ({"counts", m}, mod (m, 2), mod (m, 5)))
%!     continue
%!   endif
%!   taps = noise (m, 1, m);
%!   agrees (noise (m, 1, 70 - m), taps);
%!   agrees (single (noise (m, 37, 2)), taps.');
%!   agrees (noise (m, 3, 20, 2), taps, "Dim", 2, "Boundary", {0, "replicate", "symmetric", "mirror", "circular"}{1 + mod(m, 5)});
%! endfor

%!test # lengths of lines on either side of tiles and pieces
%! for m = [2 20 22 23 64 101]
%!   taps = noise (m, 1, m);
%!   for n = [1 2 m-1 m m+1 127:129, 639:641, 1023:1025, 4097]
%!     if (takes ("any length", m, [find(n == [m-1, m, m+1]), n]))
%!       agrees (noise (n, 1, n), taps);
%!     endif
%!   endfor
%!   agrees (single (noise (1, 1, 4097)), taps);
%!   agrees (noise (1, 1, 33000), taps(1:min (m, 24)));
%! endfor

%!test # hundreds of taps, and as many as there may be
%! agrees (noise (1, 1, 900), noise (2, 1, 257));
%! agrees (single (noise (1, 300, 3)), noise (2, 1, 512), "Boundary", "mirror");
%! agrees (noise (1, 5, 40), noise (2, 1, 1000), "Boundary", "circular", "Dim", 2);
%! agrees (noise (1, 5, 4), noise (2, 1, 999), "Dim", 7, "Boundary", -3);
%! if (! is_small ())
%!   agrees (noise (3, 1, 30), noise (4, 1, 8191));
%!   agrees (single (noise (3, 30, 2)), noise (4, 1, 8190), "Boundary", "symmetric");
%! endif
%! for m = [8190 8191]
%!   ## Whole numbers are exact in any order.
%!   taps = mod ((1:m) .^ 2, 101) - 50;
%!   for n = [2 50 8190 8191 8192 20000]
%!     x = mod ((1:n) .* 7, 13) - 6;
%!     want = conv (x, fliplr (taps));
%!     want = want(m-floor((m-1)/2)-1+(1:n));
%!     assert (isequal (StencilConstantMemory_CUDA (x, taps), want));
%!     assert (isequal (StencilConstantMemory_CUDA ([x; -x].', taps.'), [want; -want].'));
%!     if (n < 8192)
%!       assert (isequal (StencilConstantMemory_CUDA (single (x), taps), single (want)));
%!     endif
%!   endfor
%! endfor

%!test # what conv gives with 'same', and 'conv', for any two lengths
%! S = @StencilConstantMemory_CUDA;
%! for n = [1 2 9 40]
%!   x = mod ((1:n) .^ 2, 17) - 8;
%!   for m = [1:9, 22, 41, 100]
%!     k = mod ((1:m) .* 3, 7) - 2;
%!     assert (S (x, k, "conv"), conv2 (x, k, "same"));
%!     assert (S (x, k, "conv", "Shape", "same"), conv2 (x, k, "same"));
%!   endfor
%! endfor

%!test # along dimensions that the array has not, each line is one sample
%! for m = [2 22 40]
%!   for d = [3 4 9 64 65 1e6]
%!     agrees (noise (1, 3, 4), noise (m, 1, m), "Dim", d);
%!     agrees (single (noise (1, 3, 4)), noise (m, 1, m), "Dim", d, "Boundary", "replicate", "Iterations", 2);
%!   endfor
%! endfor

%!test # an even filter sweeps as in so many calls, and moves nothing but what it moves in each
%! for m = [2 4 22 31]
%!   for b = {0, 2.5, "replicate", "circular", "mirror", {1, "symmetric"}}
%!     if (! takes ("even, swept", m, b))
%!       continue
%!     endif
%!     agrees (noise (m, 60, 3), noise (m, m, 1), "Iterations", 5, "Boundary", b{1});
%!     agrees (single (noise (m, 3, 40)), noise (m, m, 1), "Iterations", 3, "Boundary", b{1}, "Dim", 2);
%!   endfor
%! endfor
%! ## [0 1] takes the next sample, each time.
%! assert (StencilConstantMemory_CUDA (1:6, [0 1], "Iterations", 4), [5 6 0 0 0 0]);
%! assert (StencilConstantMemory_CUDA (1:6, [1 0], "Iterations", 40), 1:6);

%!test # lists with even filters, long ones, and of two classes: one call after the other
%! S = @StencilConstantMemory_CUDA;
%! x = noise (5, 30, 12);
%! k = {noise(1, 1, 4), noise(2, 21, 1), noise(3, 1, 40), noise(4, 1, 2)};
%! chain = @(x, k, dims, o) S (S (S (S (x, k{1}, "Dim", dims(1), o{:}), k{2}, "Dim", dims(2), o{:}), ...
%!                             k{3}, "Dim", dims(3), o{:}), k{4}, "Dim", dims(4), o{:});
%! for dims = {[1 2 1 2], [2 2 1 1], [3 1 2 9]}
%!   for o = {{}, {"Boundary", "circular"}, {"Boundary", {0, "mirror"}}}
%!     want = chain (x, k, dims{1}, o{1});
%!     assert (same_bits (S (x, k, "Dim", dims{1}, o{1}{:}), want));
%!     assert (same_bits (S (x, k, "Dim", dims{1}, "Iterations", 2, o{1}{:}), chain (want, k, dims{1}, o{1})));
%!     assert (same_bits (gather (S (DeviceArray (x), k, "Dim", dims{1}, o{1}{:})), want));
%!     ## One of them in single makes all so.
%!     mixed = k;
%!     mixed{3} = single (k{3});
%!     assert (same_bits (S (x, mixed, "Dim", dims{1}, o{1}{:}), chain (single (x), k, dims{1}, o{1})));
%!   endfor
%! endfor
%! assert (same_bits (S (x, k(1:2), "Dim", [2 1], "Boundary", {{1, "mirror"}, "circular"}), ...
%!                    S (S (x, k{1}, "Dim", 2, "Boundary", {1, "mirror"}), k{2}, "Dim", 1, "Boundary", "circular")));
%! text = fails ("StencilConstantMemory_CUDA", "option", {x, {[1 1], [1 2 1]}, "Dim", 1});
%! assert (! isempty (strfind (text, "got 1 dimension, expected one for each filter, of which there are 2")), text);

%!test # two levels, sources and states under even, long and single filters
%! S = @StencilConstantMemory_CUDA;
%! for type = {"double", "single"}
%!   x = cast (noise (1, 20, 3), type{1});
%!   old = cast (noise (2, 20, 3), type{1});
%!   for m = [2 22 5]
%!     k = cast (noise (m, 1, m), type{1});
%!     [u, v] = S (x, k, "Previous", old, "Weight", -0.5, "Source", old, "Boundary", "circular");
%!     want = exact_fma (cast (-0.5, type{1}), old, fma_stencil (x, k, "Boundary", "circular")) + old;
%!     assert (same_bits (u, want));
%!     assert (same_bits (v, x));
%!     states = S (x, k, "Iterations", 4, "Every", 2);
%!     assert (same_bits (states, cat (3, S (x, k, "Iterations", 2), S (x, k, "Iterations", 4))));
%!   endfor
%! endfor

## --- Singles -------------------------------------------------------------------

%!test # either single: both rounded to it first, each step an fma in single
%! for m = [1 2 3 11 21 22 35]
%!   k = noise (m, 1, m);
%!   x = noise (m, 70, 3);
%!   agrees (single (x), k);
%!   agrees (x, single (k));
%!   agrees (single (x), single (k));
%!   y = StencilConstantMemory_CUDA (single (x), k);
%!   assert (class (y), "single");
%!   assert (same_bits (y, StencilConstantMemory_CUDA (single (x), double (single (k)))));
%!   assert (! same_bits (y, single (StencilConstantMemory_CUDA (double (single (x)), double (single (k))))) || m == 1);
%! endfor
%! assert (StencilConstantMemory_CUDA (single (1), 1 + 2 ^ -30), single (1));
%! assert (StencilConstantMemory_CUDA (1e39, single (0.5)), single (Inf));
%! ## They are the bits of a convolution along the same dimension.
%! x = single (noise (1, 40, 30));
%! assert (same_bits (StencilConstantMemory_CUDA (x, noise (2, 1, 21)), ConvolutionConstantMemory_CUDA (x, noise (2, 21, 1))));

%!test # singles with each option, on the host and held
%! x = single (noise (1, 25, 4, 3));
%! k = noise (2, 1, 7);
%! for o = {{"Boundary", 0.1}, {"Boundary", "mirror"}, {"Boundary", "circular", "Dim", 3}, {"Dim", 2, "Iterations", 4}, ...
%!          {"Iterations", 0}, {"Shape", "full"}, {"Shape", "valid", "Boundary", NaN}, {"Boundary", {1e-3, "replicate"}}}
%!   agrees (x, k, o{1}{:});
%!   held = StencilConstantMemory_CUDA (DeviceArray (x), k, o{1}{:});
%!   assert (isa (held, "DeviceArray"));
%!   assert (same_bits (gather (held), fma_stencil (x, k, o{1}{:})));
%!   assert (same_bits (gather (StencilConstantMemory_CUDA (DeviceArray (double (x)), single (k), o{1}{:})), gather (held)));
%! endfor
%! for dims = {[0 0], [0 3], [3 0], [2 0 4]}
%!   y = StencilConstantMemory_CUDA (zeros (dims{1}, "single"), k);
%!   assert (isa (y, "single") && isequal (size (y), dims{1}));
%!   y = StencilConstantMemory_CUDA (zeros (dims{1}), single (k));
%!   assert (isa (y, "single") && isequal (size (y), dims{1}));
%! endfor

%!test # singles that are special: NaN, Inf, zeros of either sign, denormals, what is too large
%! spiked = single (noise (1, 1, 300));
%! spiked(3:37:end) = NaN;
%! spiked(7:41:end) = -Inf;
%! spiked(13:29:end) = -0;
%! tiny = realmin ("single") * eps ("single");
%! for k = {[1 -1 1], [0 1 0 2], [Inf 1 1], noise(2, 1, 30)}
%!   agrees (spiked, k{1});
%!   agrees (tiny * single (-40:40), k{1} / 4);
%!   agrees (realmax ("single") * single (mod (1:40, 5) - 2), k{1});
%! endfor
%! agrees (-zeros (1, 9, "single"), [1 1]);

## --- Nothing is written that is not the output -------------------------------

%!test # the input and all that shares its memory
%! x = noise (1, 1, 5000);
%! keep = typecast (x, "uint64");
%! alias = x;
%! boxed = {x};
%! part = x(1001:2000);
%! y = StencilConstantMemory_CUDA (x, [1 2 3]);
%! assert (typecast (x, "uint64"), keep);
%! assert (typecast (alias, "uint64"), keep);
%! assert (typecast (boxed{1}, "uint64"), keep);
%! y = StencilConstantMemory_CUDA (part, [1 2 3]);
%! y = StencilConstantMemory_CUDA (x(3001:4000), [1 2 3]);
%! assert (typecast (x, "uint64"), keep);
%! assert (typecast (part, "uint64"), keep(1001:2000));

%!test # one variable as input and taps, and as output too
%! k = [1 2 3];
%! assert (StencilConstantMemory_CUDA (k, k), [8 14 8]);
%! assert (k, [1 2 3]);
%! x = noise (1, 1, 5000);
%! want = fma_stencil (x, k);
%! x = StencilConstantMemory_CUDA (x, k);
%! assert (same_bits (x, want));
%! k = StencilConstantMemory_CUDA (k, k);
%! assert (k, [8 14 8]);

%!test # the same for a large array, which may take another way out
%! n = 2000000;
%! x = mod (1:n, 1013);
%! keep = x;
%! y = StencilConstantMemory_CUDA (x, [1 2 3]);
%! assert (isequal (x, keep, mod (1:n, 1013)));
%! z = y;
%! z(1) = -1;
%! z(end) = -1;
%! assert (y([1 end]), [8, 2*x(n) + x(n-1)]);
%! x = StencilConstantMemory_CUDA (x, [1 2 3]);
%! assert (isequal (x, y));

%!test # an output is the caller's: writing to it, or calling again, spares the rest
%! x = noise (1, 1, 3000);
%! a = StencilConstantMemory_CUDA (x, [1 2 3]);
%! b = a;
%! b(:) = 0;
%! assert (same_bits (a, fma_stencil (x, [1 2 3])));
%! keep = typecast (a, "uint64");
%! for i = 1:20
%!   c{i} = StencilConstantMemory_CUDA (x + i, [3 2 1]);
%! endfor
%! assert (typecast (a, "uint64"), keep);
%! for i = 1:20
%!   assert (same_bits (c{i}, StencilConstantMemory_CUDA (x + i, [3 2 1])));
%! endfor

%!test # taps change from call to call, in number and in value
%! x = noise (1, 1, 2000);
%! for m = [1 21 3 3 19 21 1 5 5]
%!   agrees (x, noise (m, 1, m));
%!   agrees (x, noise (m + 50, 1, m));
%! endfor

%!test # inputs that look swapped: one warning in a session, with an identifier, and the result as ever
%! code = @(calls) [{"s = @StencilConstantMemory_CUDA;"}; calls(:)];
%! told = @(out) numel (strfind (out, "were the two swapped"));
%! backend = {"STENCIL_BACKEND=cpu"};
%! for call = {"y = s ([1 2 1], ones (1, 1000)); assert (y, [4 4 4]);", "s (single (1:4)', ones (5, 1));", ...
%!             "s ([1i 2], [1 2 3]);", "s (DeviceArray (1:3), ones (1, 4));"}
%!   [status, out] = run_octave (code ([call, call]), backend);
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (told (out) == 1, "%s: %s", call{1}, out);
%! endfor
%! [~, out] = run_octave (code ({"warning ('off', 'StencilConstantMemory:swapped');", "s (1, ones (3, 1));"}), backend);
%! assert (told (out), 0);
%! ## Not where it is as long, one sample, no vector, empty, or one of a list.
%! quiet = {"s (1:5, ones (1, 5));", "s (1, ones (1, 5));", "s (ones (2, 3), ones (1, 9));", "s ([], ones (1, 3));", "s (1:3, {ones(1, 5), 1});"};
%! [status, out] = run_octave (code (quiet), backend);
%! assert (status == 0 && told (out) == 0, out);
