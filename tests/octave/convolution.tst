## ConvolutionConstantMemory_CUDA computes, bit for bit, the chain of the contract, and up to rounding the results of
## conv2 and convn. Errors that it shares with the other functions are in errors.tst.

%!shared f, ok, classes
%! f = "ConvolutionConstantMemory_CUDA";
%! ## Options do not change what the reference returns.
%! ok = @(varargin) agrees_with (@fma_convolution, f, varargin);
%! ## Classes of the image, the filter, and the result.
%! classes = {"double", "double", "double"; "single", "single", "single"; ...
%!            "single", "double", "single"; "double", "single", "single"};

## --- Plain facts to read ---------------------------------------------------------

%!assert (ConvolutionConstantMemory_CUDA (magic (4), 1), magic (4))
%!assert (ConvolutionConstantMemory_CUDA (1:5, [1 0 0]), [0 1 2 3 4])
%!assert (ConvolutionConstantMemory_CUDA ((1:5)', [1; 0; 0]), [0; 1; 2; 3; 4])
%!assert (ConvolutionConstantMemory_CUDA (1:5, [1; 10; 100]), 10:10:50)
%!assert (ConvolutionConstantMemory_CUDA (ones (4, 5), ones (3)), ...
%!        [4 6 6 6 4; 6 9 9 9 6; 6 9 9 9 6; 4 6 6 6 4])

%!test # not flipped: an impulse shows the filter turned round
%! n = zeros (5);
%! n(3,3) = 1;
%! filter = reshape (1:9, 3, 3);
%! p = ConvolutionConstantMemory_CUDA (n, filter);
%! assert (p(2:4,2:4), rot90 (filter, 2));
%! assert (nnz (p), 9);
%! ## And its middle, laid on an element, meets that element.
%! assert (ConvolutionConstantMemory_CUDA (reshape (1:9, 3, 3), filter)(2,2), sum ((1:9) .^ 2));

%!test # no output asked for: ans is set
%! ConvolutionConstantMemory_CUDA (1:3, 2);
%! assert (ans, [2 4 6]);

%!test # one dimension: the same bits as the stencil
%! for m = 1:2:15
%!   k = noise (m, 1, m);
%!   x = noise (m, 40, 30);
%!   assert (same_bits (ConvolutionConstantMemory_CUDA (x, k(:)), StencilConstantMemory_CUDA (x, k)));
%!   x = noise (m, 1, 900);
%!   assert (same_bits (ConvolutionConstantMemory_CUDA (x, k), StencilConstantMemory_CUDA (x, k)));
%! endfor

%!test # a volume: page by page under a filter of one page, and through the pages under one of more
%! n = reshape (1:24, 2, 3, 4);
%! p = ConvolutionConstantMemory_CUDA (n, [1 0 0]);
%! assert (p, cat (2, zeros (2, 1, 4), n(:,1:2,:)));
%! p = ConvolutionConstantMemory_CUDA (n, reshape ([1 0 0], 1, 1, 3));
%! assert (p, cat (3, zeros (2, 3), n(:,:,1:3)));
%! ## An image is a volume of one page.
%! assert (ConvolutionConstantMemory_CUDA (magic (4), reshape ([5 2 7], 1, 1, 3)), 2 * magic (4));

## --- conv2 and convn, to rounding ---------------------------------------------------

%!function near (p, same, n, f)
%! ## A sum of this number of rounded terms, in any order.
%! assert (class (p), class (same));
%! assert (size (p), size (same));
%! scale = convn (abs (double (n)), abs (double (f(end:-1:1,end:-1:1,end:-1:1))), "same");
%! bound = 2 * (numel (f) + 2) * eps (class (p)) * scale;
%! off = abs (double (p) - double (same));
%! assert (all ((off <= bound)(:)), "%s under %s: off by %g, allowed %g", mat2str (size (n)), ...
%!         mat2str (size (f)), max ((off - bound)(:)), max (bound(:)));
%!endfunction

%!test # two dimensions: conv2 (n, rot90 (f, 2), "same")
%! for dims = {[20 30], [1 50], [50 1], [3 4], [1 1], [2 100], [100 2], [40 40]}
%!   for size_f = {[1 1], [3 3], [5 5], [1 15], [15 1], [3 7], [7 3], [15 15], [13 9]}
%!     for type = classes.'
%!       n = cast (noise (1, dims{1}), type{1});
%!       filter = cast (noise (2, size_f{1}), type{2});
%!       near (ConvolutionConstantMemory_CUDA (n, filter), conv2 (n, rot90 (filter, 2), "same"), n, filter);
%!     endfor
%!   endfor
%! endfor

%!test # three: convn (n, filter turned round in all dimensions, "same"), and images and filters with fewer
%! for dims = {[9 8 7], [1 1 20], [1 20 3], [20 1 2], [3 3 3], [2 2 1], [12 11], [1 9], [9 1], [1 1]}
%!   for size_f = {[1 1 3], [3 3 3], [5 5 3], [1 3 7], [7 1 5], [7 7 7], [3 3], [15 15], [1 15]}
%!     for type = classes.'
%!       n = cast (noise (1, dims{1}), type{1});
%!       filter = cast (noise (2, size_f{1}), type{2});
%!       near (ConvolutionConstantMemory_CUDA (n, filter), ...
%!             convn (n, filter(end:-1:1,end:-1:1,end:-1:1), "same"), n, filter);
%!     endfor
%!   endfor
%! endfor

%!test # whole numbers are exact by any method: large images, tall ones, wide ones, a volume
%! shapes = {[1500 1100], [3 200000], [200000 3], [1 300001], [300001 1]};
%! volume = [90 80 70];
%! if (is_small ())
%!   shapes = {[150 110], [3 9000], [9000 3], [1 20001], [20001 1]};
%!   volume = [40 30 20];
%! endif
%! for type = {"double", "single"}
%!   for dims = shapes
%!     n = cast (mod (reshape (1:prod (dims{1}), dims{1}), 1013) - 500, type{1});
%!     for filter = {[1 -2 3; 0 5 -1; 2 2 -7], reshape(1:35, 7, 5) - 9, mod(reshape(1:225, 15, 15), 7)}
%!       p = ConvolutionConstantMemory_CUDA (n, filter{1});
%!       assert (isequal (p, conv2 (n, rot90 (filter{1}, 2), "same")));
%!       assert (class (p), type{1});
%!     endfor
%!   endfor
%!   n = cast (mod (reshape (1:prod (volume), volume), 1013) - 500, type{1});
%!   filter = mod (reshape (1:45, 3, 3, 5), 11) - 4;
%!   assert (isequal (ConvolutionConstantMemory_CUDA (n, filter), ...
%!                    convn (n, filter(end:-1:1,end:-1:1,end:-1:1), "same")));
%! endfor

## --- The very bits -------------------------------------------------------------------

%!test # every filter of two dimensions, in double and in single
%! for rows_f = 1:2:15
%!   for cols_f = 1:2:15
%!     if (! takes ("two dimensions", rows_f, cols_f))
%!       continue
%!     endif
%!     filter = noise (rows_f + 100 * cols_f, rows_f, cols_f);
%!     n = noise (cols_f, 19, 23);
%!     ok (n, filter);
%!     ok (single (n), single (filter));
%!   endfor
%! endfor

%!test # every filter of three
%! for rows_f = 1:2:7
%!   for cols_f = 1:2:7
%!     for pages_f = 3:2:7
%!       if (! takes ("three dimensions", rows_f, cols_f, pages_f))
%!         continue
%!       endif
%!       filter = noise (rows_f + 10 * cols_f + 100 * pages_f, rows_f, cols_f, pages_f);
%!       n = noise (cols_f, 9, 8, 6);
%!       ok (n, filter);
%!       ok (single (n), single (filter));
%!     endfor
%!   endfor
%! endfor

%!test # heights and widths from nothing to more than a filter, a vector, a tile
%! sizes = [0:9, 14:18, 31:34, 63:65, 127:130];
%! for size_f = {[3 3], [5 7], [1 1]}
%!   filter = noise (1, size_f{1});
%!   for n = sizes
%!     if (! takes ("sizes", size_f, n))
%!       continue
%!     endif
%!     ok (noise (n, n, 21), filter);
%!     ok (single (noise (n, 21, n)), filter);
%!     ok (noise (n, 1, n), filter);
%!     ok (single (noise (n, n, 1)), filter);
%!   endfor
%! endfor

%!test # filters larger than the image, in one dimension and in all
%! for dims = {[1 1], [1 2], [2 1], [2 2], [3 3], [5 1], [1 5], [1 100], [100 1], [6 7], [1 1 2], [2 2 2], [4 1 3]}
%!   for size_f = {[15 15], [1 15], [15 1], [7 7 7], [1 1 7], [3 15]}
%!     if (! takes ({"larger", dims}, size_f, numel (dims{1}), min (dims{1})))
%!       continue
%!     endif
%!     n = noise (1, dims{1});
%!     filter = noise (2, size_f{1});
%!     ok (n, filter);
%!     ok (single (n), filter);
%!   endfor
%! endfor

%!test # around 512 and 1024 rows and columns, tall and wide
%! for n = [512, 509:515, 1021:1027]
%!   if (! takes ({"512 and 1024", n}, round (log2 (n)), sign (mod (n + 3, 512) - 3)))
%!     continue
%!   endif
%!   ok (noise (n, n, 5), noise (1, 5, 3));
%!   ok (noise (n, 5, n), noise (1, 5, 3));
%!   ok (single (noise (n, n, 4, 3)), noise (1, 7, 3, 3));
%! endfor
%! ok (noise (1, 20000, 3), noise (2, 15, 3));
%! ok (noise (1, 3, 20000), noise (2, 3, 15));
%! ok (single (noise (1, 2, 20000)), noise (2, 5, 5));
%! pages = {9000, 300}{1 + is_small ()};
%! ok (noise (1, 1, 2, pages), noise (2, 3, 3, 3));
%! ok (single (noise (1, 1, 1, pages)), noise (2, 1, 1, 7));

%!test # more than one piece of work
%! image = {[700 400], [190 130]}{1 + is_small ()};
%! volume = {[60 70 80], [40 50 12]}{1 + is_small ()};
%! ok (noise (1, image), noise (2, 5, 5));
%! ok (single (noise (1, fliplr (image))), noise (2, 3, 7));
%! ok (noise (1, volume), noise (2, 3, 3, 3));
%! ok (noise (1, volume), noise (2, 5, 3));

%!test # large images equal their own pieces
%! for type = {"double", "single"}
%!   n = cast (noise (5, 1203, 905), type{1});
%!   filter = cast (noise (6, 7, 9), type{1});
%!   if (is_small ())
%!     filter([1:2, 6:7],:) = [];
%!   endif
%!   r = (size (filter).' - 1) / 2;
%!   p = ConvolutionConstantMemory_CUDA (n, filter);
%!   for first = [1, 120, 511, 900; 1, 4, 300, 800]
%!     last = min (first + [400; 277], [1203; 905]);
%!     from = max (first - r, 1);
%!     to = min (last + r, [1203; 905]);
%!     part = ConvolutionConstantMemory_CUDA (n(from(1):to(1),from(2):to(2)), filter);
%!     part = part(first(1)-from(1)+(1:last(1)-first(1)+1),first(2)-from(2)+(1:last(2)-first(2)+1));
%!     [yes, why] = same_bits (p(first(1):last(1),first(2):last(2)), part);
%!     assert (yes, "%s, from %d, %d: %s", type{1}, first, why);
%!   endfor
%! endfor

%!test # a volume under a filter of one page: its pages, each by itself
%! for type = {"double", "single"}
%!   n = cast (noise (7, 60, 50, 9), type{1});
%!   filter = noise (8, 5, 7);
%!   p = ConvolutionConstantMemory_CUDA (n, filter);
%!   for k = 1:9
%!     assert (same_bits (p(:,:,k), ConvolutionConstantMemory_CUDA (n(:,:,k), filter)));
%!   endfor
%! endfor

%!test # classes: single if either is, and both rounded to it first
%! for type = classes.'
%!   n = cast (noise (1, 17, 13), type{1});
%!   filter = cast (noise (2, 5, 3), type{2});
%!   ok (n, filter);
%!   p = ConvolutionConstantMemory_CUDA (n, filter);
%!   assert (class (p), type{3});
%!   assert (class (conv2 (n, filter, "same")), type{3});
%!   assert (isreal (p) && ! iscomplex (p) && ! issparse (p));
%!   assert (size (p), size (n));
%!   if (strcmp (type{3}, "single"))
%!     assert (same_bits (p, ConvolutionConstantMemory_CUDA (single (n), single (filter))));
%!   endif
%!   for dims = {[0 0], [0 5], [5 0], [1 0], [0 1], [0 3 2], [3 0 2], [3 2 0], [0 0 0], [1 1 0]}
%!     p = ConvolutionConstantMemory_CUDA (zeros (dims{1}, type{1}), filter);
%!     assert (size (p), dims{1});
%!     assert (class (p), type{3});
%!   endfor
%! endfor
%! ## Values are rounded to single, or become Inf, before they are multiplied.
%! assert (ConvolutionConstantMemory_CUDA (single (1), 1 + 2 ^ -30), single (1));
%! assert (ConvolutionConstantMemory_CUDA (1e39, single (0.5)), single (Inf));
%! assert (ConvolutionConstantMemory_CUDA (single (1e30), 1e-60), single (0));

%!test # the order of the sum: down the columns of the filter, then through its pages
%! n = [1e20 1 0; -1e20 0 0; 0 0 0];
%! assert (ConvolutionConstantMemory_CUDA (n, ones (3))(2,2), 1);
%! assert (ConvolutionConstantMemory_CUDA (n.', ones (3))(2,2), 0);
%! assert (ConvolutionConstantMemory_CUDA (single (n), ones (3))(2,2), single (1));
%! v = zeros (3, 3, 3);
%! v([1 27 2]) = [1e20 1 -1e20];
%! assert (ConvolutionConstantMemory_CUDA (v, ones (3, 3, 3))(2,2,2), 1);
%! v = zeros (3, 3, 3);
%! v([1 10 2]) = [1e20 -1e20 1];
%! assert (ConvolutionConstantMemory_CUDA (v, ones (3, 3, 3))(2,2,2), 0);

%!test # each step is fused, the first one too
%! e = 2 ^ -30;
%! assert (ConvolutionConstantMemory_CUDA ([1 + 2 * e; 1 + e], [-1; 1 + e; 0])(2), 2 ^ -60);
%! e = single (2 ^ -13);
%! assert (ConvolutionConstantMemory_CUDA ([1 + 2 * e; 1 + e], [-1; 1 + e; 0])(2), e ^ 2);
%! assert (! signbit (ConvolutionConstantMemory_CUDA (-0, 1)));
%! p = ConvolutionConstantMemory_CUDA (-1e-300, 1e-300);
%! assert (p == 0 && signbit (p) != 0);

%!test # NaN spreads as far as the filter reaches, entries of zero included
%! for type = {"double", "single"}
%!   n = ones (20, 30, type{1});
%!   n(9,12) = NaN;
%!   want = false (20, 30);
%!   want(8:10,10:14) = true;
%!   assert (isnan (ConvolutionConstantMemory_CUDA (n, zeros (3, 5))), want);
%!   spiked = cast (noise (1, 60, 50), type{1});
%!   spiked(3:97:end) = NaN;
%!   spiked(7:101:end) = Inf;
%!   spiked(11:103:end) = -Inf;
%!   spiked(13:89:end) = -0;
%!   ok (spiked, noise (2, 3, 5));
%!   ok (spiked, [0 1 0; -1 0 1; 0 -0 0]);
%!   ok (Inf (4, 4, type{1}), ones (3));
%! endfor

%!test # entries that are not finite meet the zeros outside: NaN at the edges, by contract
%! p = ConvolutionConstantMemory_CUDA (ones (4, 5), [1 1 1; 1 1 1; 1 1 Inf]);
%! want = false (4, 5);
%! want(4,:) = true;
%! want(:,5) = true;
%! assert (isnan (p), want);
%! assert (all (p(! want) == Inf));
%! for type = {"double", "single"}
%!   n = cast (noise (1, 30, 20, 3), type{1});
%!   for bad = [Inf, -Inf, NaN]
%!     ok (n, [1 1 1; 1 bad 1; 1 1 1]);
%!     ok (n, [bad; 1; 2]);
%!     ok (n, cat (3, [1 bad 1], [2 3 4], [5 6 7]));
%!   endfor
%! endfor
%! ## Above and below an image there are no pages, so zeros.
%! assert (isnan (ConvolutionConstantMemory_CUDA (ones (3), reshape ([Inf 1 1], 1, 1, 3))));

%!test # zeros of either sign, denormals, and what is too large
%! for type = {"double", "single"}
%!   t = type{1};
%!   tiny = realmin (t) * eps (t);
%!   ok (-zeros (9, 7, t), noise (1, 3, 3));
%!   ok (cast (noise (1, 9, 7), t), -zeros (3, 3));
%!   ok (tiny * reshape (-40:40, 9, 9), cast ([0.5 0.25 -1.5; 0 1 0.75; 1 -1 0.5], t));
%!   ok (realmin (t) * cast (noise (2, 20, 20), t), cast (noise (3, 5, 5), t));
%!   ok (sqrt (tiny) * cast (noise (4, 20, 20), t), sqrt (tiny) * cast (noise (5, 3, 3), t));
%!   ok (realmax (t) * cast (mod (reshape (1:400, 20, 20), 5) - 2, t), cast ([1 -1 1; 0.5 2 -2; 1 1 -0.5], t));
%!   assert (ConvolutionConstantMemory_CUDA ([-realmax(t); realmax(t)], cast ([1 1.5 0]', t))(2), realmax (t) / 2);
%! endfor
%! assert (realmin / 2 > 0 && realmin ("single") / 2 > 0);

%!test # values that Octave stores in ways of its own, in either place
%! ok (1:30, 1:7);
%! ok ((1:30)', (1:7)');
%! ok (eye (12), eye (3));
%! ok (3.5 * eye (30, 11), 2 * eye (5, 3));
%! ok (eye (5)([3 1 2 5 4],:), eye (3)([2 3 1],:));
%! ok (single (1):single (9), 0:2);
%! ok (find (noise (1, 40, 1) > 0), find ([1 1 1]));
%! x = noise (3, 12, 10, 3);
%! k = noise (4, 5, 7);
%! for v = {x(:,:,1).', x(:), x(:).', reshape(x, 30, 12), permute(x, [3 1 2]), x(3:12,:), x(:,4), x(2,:,3), ...
%!          x(end:-1:1,:,:), x(13:60), cat(3, x, x)}
%!   ok (v{1}, k);
%!   ok (v{1}, k(:,2));
%!   ok (single (v{1}), k(2:4,1:5));
%!   ok (v{1}, k.');
%! endfor
%! ok (ones (3, 4, 1, 1), ones (3, 3, 1, 1));

%!test # filters change from call to call, in size and in value
%! n = noise (1, 40, 30);
%! for size_f = {[3 3], [3 3], [5 5], [15 15], [3 3], [1 1], [9 1], [1 9], [9 9], [3 3 3], [7 7 7], [3 3]}
%!   ok (n, noise (1, size_f{1}));
%!   ok (single (n), noise (2, size_f{1}));
%!   ok (n, noise (3, size_f{1}));
%! endfor

## --- Filters of any size -----------------------------------------------------------

%!test # an even size: the middle is the earlier of the two, as imfilter has it; 'conv' is conv2 (..., "same")
%! c = @ConvolutionConstantMemory_CUDA;
%! assert (c (magic (4), [0 1; 0 0]), [magic(4)(:,2:4), zeros(4, 1)]);
%! assert (c (1:5, [1 0 0 0]), [0 1 2 3 4]);
%! assert (c ((1:4)', [1; 1]), [3; 5; 7; 4]);
%! for dims = {[9 8], [1 12], [12 1], [3 3], [1 1], [20 2], [40 50]}
%!   A = mod (reshape (1:prod (dims{1}), dims{1}) .^ 2, 17) - 8;
%!   for size_f = {[4 5], [4 4], [1 2], [2 1], [2 3], [6 1], [1 20], [49 1], [16 18]}
%!     F = mod (reshape (1:prod (size_f{1}), size_f{1}) .* 3, 7) - 2;
%!     assert (c (A, F, "conv"), conv2 (A, F, "same"));
%!     assert (c (single (A), F, "conv"), single (conv2 (A, F, "same")));
%!     ## A correlation: the padded array under the filter turned round.
%!     low = floor ((size_f{1} - 1) / 2);
%!     padded = zeros (dims{1} + size_f{1} - 1);
%!     padded(low(1)+(1:dims{1}(1)), low(2)+(1:dims{1}(2))) = A;
%!     assert (c (A, F), conv2 (padded, rot90 (F, 2), "valid"));
%!   endfor
%! endfor

%!test # even and large ones, in double and in single: the very bits
%! for size_f = {[1 2], [2 1], [2 2], [2 3], [3 2], [4 5], [8 8], [14 14], [16 16], [17 3], [3 17], [1 17], [49 1], ...
%!               [1 16], [17 17], [31 2], [25 24]}
%!   F = noise (1, size_f{1});
%!   for dims = {[21 23], [1 40], [40 1], [7 130], [5 6 3]}
%!     if (! takes ("even and large", size_f, dims))
%!       continue
%!     endif
%!     n = noise (2, dims{1});
%!     ok (n, F);
%!     ok (single (n), F, "Boundary", {"circular", "mirror", "replicate", -1.5}{1 + mod(sum (size_f{1}), 4)});
%!   endfor
%! endfor
%! for size_f = {[1 1 2], [2 2 2], [3 3 4], [4 3 2], [9 1 3], [1 9 9], [9 9 9], [1 1 20], [2 8 5]}
%!   F = noise (1, size_f{1});
%!   for dims = {[9 8 7], [5 40], [1 1 30], [3 3 3 2]}
%!     if (! takes ("even and large, volumes", size_f, dims))
%!       continue
%!     endif
%!     ok (noise (2, dims{1}), F, "Boundary", {0, "symmetric", "circular"}{1 + mod(sum (size_f{1}), 3)});
%!     ok (single (noise (2, dims{1})), F);
%!   endfor
%! endfor

%!test # sizes of images on either side of tiles and pieces
%! for size_f = {[2 4], [16 3], [1 30], [30 1], [20 20]}
%!   F = noise (1, size_f{1});
%!   for n = [2 3 15:18 31 33 65 129 511 513]
%!     if (! takes ("tiles", size_f, n))
%!       continue
%!     endif
%!     ok (noise (n, n, 5), F);
%!     ok (single (noise (n, 5, n)), F);
%!   endfor
%! endfor
%! ok (noise (1, {[700 400], [190 130]}{1 + is_small ()}), noise (2, 4, 6));
%! ok (single (noise (1, 3, 9000)), noise (2, 2, 17));

%!test # as many entries as there may be: whole numbers, exact in any order
%! for size_f = {[1 8191], [8191 1], [90 91], [2 4095], [128 60]}
%!   F = mod (reshape (1:prod (size_f{1}), size_f{1}) .* 5, 11) - 4;
%!   for dims = {[30 40], [1 100], [9000 1]}
%!     if (! takes ("many entries", size_f, dims))
%!       continue
%!     endif
%!     A = mod (reshape (1:prod (dims{1}), dims{1}) .* 7, 13) - 6;
%!     want = conv2 (A, F, "same");
%!     assert (isequal (ConvolutionConstantMemory_CUDA (A, F, "conv"), want));
%!     assert (isequal (ConvolutionConstantMemory_CUDA (single (A), F, "conv"), single (want)));
%!   endfor
%! endfor
%! F = mod (reshape (1:8000, 20, 20, 20) .* 5, 11) - 4;
%! A = mod (reshape (1:900, 9, 10, 10) .* 7, 13) - 6;
%! assert (isequal (ConvolutionConstantMemory_CUDA (A, F, "conv"), convn (A, F, "same")));

%!test # sweeps of even and large filters, and lists of them
%! for size_f = {[2 2], [1 4], [4 1], [16 17], [1 31], [2 2 2]}
%!   F = noise (1, size_f{1});
%!   for b = {0, "circular", "mirror"}
%!     if (! takes ("swept", size_f, b))
%!       continue
%!     endif
%!     ok (noise (2, 12, 15, 2), F, "Iterations", 3, "Boundary", b{1});
%!     ok (single (noise (2, 20, 9)), F, "Iterations", 2, "Boundary", b{1});
%!   endfor
%! endfor
%! c = @ConvolutionConstantMemory_CUDA;
%! A = noise (3, 14, 15, 3);
%! list = {noise(4, 2, 2), noise(5, 1, 20), noise(6, 3, 3, 2)};
%! for words = {{}, {"circular"}, {"conv", 2.5}}
%!   want = A;
%!   for i = [1 2 3 1 2 3]
%!     want = c (want, list{i}, words{1}{:});
%!   endfor
%!   assert (same_bits (c (A, list, words{1}{:}, "Iterations", 2), want));
%!   assert (same_bits (gather (c (DeviceArray (A), list, words{1}{:}, "Iterations", 2)), want));
%! endfor
%! [u, v] = c (A, ones (2, 4) / 8, "Previous", A / 2, "Weight", -1, "Source", 0.25);
%! assert (same_bits (u, exact_fma (-1, A / 2, fma_convolution (A, ones (2, 4) / 8)) + 0.25));
%! assert (same_bits (v, A));

%!test # an ordinary filter in the middle of a larger one of zeros: the same where numbers are finite
%! A = noise (1, 40, 30);
%! F = noise (2, 3, 3);
%! F(F == 0) = 1;
%! for size_f = {[4 4], [17 17], [16 5]}
%!   large = zeros (size_f{1});
%!   at = floor ((size_f{1} + 1) / 2);
%!   large(at(1)-1:at(1)+1, at(2)-1:at(2)+1) = F;
%!   assert (same_bits (ConvolutionConstantMemory_CUDA (A, large), ConvolutionConstantMemory_CUDA (A, F)));
%! endfor

## --- Volumes behind each other -------------------------------------------------------

%!test # a filter of three dimensions goes over each volume by itself
%! c = @ConvolutionConstantMemory_CUDA;
%! for F = {noise(3, 3, 3, 3), noise(4, 2, 4, 2), noise(5, 1, 1, 5), single(noise (6, 5, 3, 7)), noise(7, 9, 9, 9)}
%!   for dims = {[6 7 5 2], [1 9 1 2], [5 1 1 1 2], [4 5 2 3 2], [1 1 1 1 1 1 3]}
%!     for type = {"double", "single"}
%!       A = cast (noise (8, dims{1}), type{1});
%!       for words = {{}, {"symmetric"}, {"full"}, {"valid"}, {"circular", "full", "conv"}, {"Iterations", 3, "Boundary", "mirror"}, ...
%!                    {"Boundary", {"circular", {1, "mirror"}, 2}}, {"Iterations", 0}}
%!         got = c (A, F{1}, words{1}{:});
%!         ## Volume by volume.
%!         want = cell (1, prod (dims{1}(4:end)));
%!         for i = 1:numel (want)
%!           want{i} = c (A(:,:,:,i), F{1}, words{1}{:});
%!         endfor
%!         own = [size(want{1}), 1](1:3);
%!         want = reshape (cellfun (@(v) v(:), want, "UniformOutput", false), 1, []);
%!         want = reshape (cat (1, want{:}), [own, dims{1}(4:end)]);
%!         [yes, why] = same_bits (got, want);
%!         assert (yes, "%s under %s: %s", mat2str (dims{1}), mat2str (size (F{1})), why);
%!         held = c (DeviceArray (A), F{1}, words{1}{:});
%!         assert (size (held), size (want));
%!         assert (same_bits (gather (held), want));
%!       endfor
%!     endfor
%!   endfor
%! endfor

%!test # by the chain itself, empty ones, lists of filters of one page and of several, levels
%! c = @ConvolutionConstantMemory_CUDA;
%! A = noise (1, 6, 5, 4, 3);
%! for F = {noise(2, 3, 3, 3), noise(3, 2, 1, 2), noise(4, 4, 4)}
%!   for o = {{}, {"Boundary", "circular", "Iterations", 2}, {"Shape", "full"}, {"Shape", "valid", "Boundary", 1}}
%!     ok (A, F{1}, o{1}{:});
%!     ok (single (A), F{1}, o{1}{:});
%!   endfor
%! endfor
%! for dims = {[2 2 2 0], [0 0 0 2], [3 0 2 2], [2 2 0 3]}
%!   for shape = {"same", "full", "valid"}
%!     ok (zeros (dims{1}), noise (2, 3, 2, 3), "Shape", shape{1});
%!     held = c (DeviceArray (zeros (dims{1})), noise (2, 3, 2, 3), shape{1});
%!     assert (size (held), size (c (zeros (dims{1}), noise (2, 3, 2, 3), shape{1})));
%!   endfor
%! endfor
%! G = noise (5, 3, 3, 3);
%! F = noise (6, 2, 5);
%! for list = {{F, G}, {G, F}, {F, F, G}}
%!   want = A;
%!   for i = 1:numel (list{1})
%!     want = c (want, list{1}{i}, "mirror");
%!   endfor
%!   assert (same_bits (c (A, list{1}, "mirror"), want));
%!   assert (same_bits (gather (c (DeviceArray (A), list{1}, "mirror")), want));
%! endfor
%! [u, v] = c (A, G, "Previous", A / 2, "Weight", -1, "Source", A, "Iterations", 2);
%! states = c (A, G, "Iterations", 4, "Every", 2);
%! assert (size (states), [6 5 4 3 2]);
%! for i = 1:3
%!   B = A(:,:,:,i);
%!   [one, older] = c (B, G, "Previous", B / 2, "Weight", -1, "Source", B, "Iterations", 2);
%!   assert (same_bits (u(:,:,:,i), one) && same_bits (v(:,:,:,i), older));
%!   assert (same_bits (squeeze (states(:,:,:,i,:)), c (B, G, "Iterations", 4, "Every", 2)));
%! endfor
%! text = fails (f, "option", {A, G, "Boundary", {0, 0}});
%! assert (! isempty (strfind (text, "are 4, or of F, of which there are 3")), text);

## --- Nothing is written that is not the output ---------------------------------------

%!test # the inputs and all that shares their memory
%! for type = classes.'
%!   n = cast (noise (1, 90, 60), type{1});
%!   k = cast (noise (2, 5, 5), type{2});
%!   keep = {typecast(n(:), "uint8"), typecast(k(:), "uint8")};
%!   alias = n;
%!   boxed = {n, k};
%!   part = n(:,11:20);
%!   p = ConvolutionConstantMemory_CUDA (n, k);
%!   p = ConvolutionConstantMemory_CUDA (part, k);
%!   p = ConvolutionConstantMemory_CUDA (k, k);
%!   assert (typecast (n(:), "uint8"), keep{1});
%!   assert (typecast (alias(:), "uint8"), keep{1});
%!   assert (typecast (boxed{1}(:), "uint8"), keep{1});
%!   assert (typecast (k(:), "uint8"), keep{2});
%!   assert (typecast (boxed{2}(:), "uint8"), keep{2});
%!   want = fma_convolution (n, k);
%!   n = ConvolutionConstantMemory_CUDA (n, k);
%!   assert (same_bits (n, want));
%!   assert (typecast (alias(:), "uint8"), keep{1});
%! endfor

%!test # the same for a large image, which may take another way out
%! side = {2000, 400}{1 + is_small ()};
%! image = mod (reshape (1:side^2, side, side), 1013);
%! for type = {"double", "single"}
%!   n = cast (image, type{1});
%!   p = ConvolutionConstantMemory_CUDA (n, [0 1 0; 1 1 1; 0 1 0]);
%!   assert (isequal (n, cast (image + 0, type{1})));
%!   q = p;
%!   q([1 end]) = -1;
%!   assert (p([1 end]), [n(1)+n(2)+n(side+1), n(end)+n(end-1)+n(end-side)]);
%!   n = ConvolutionConstantMemory_CUDA (n, [0 1 0; 1 1 1; 0 1 0]);
%!   assert (isequal (n, p));
%! endfor

## --- Errors: what is its own -----------------------------------------------------------

%!test # a ghost value that is a number is cast to the image's class first, as imfilter has it
%! c = @ConvolutionConstantMemory_CUDA;
%! box = ones (3) / 9;
%! N = uint8 (100 * ones (3));
%! assert (c (N, box, 300), uint8 ([186 152 186; 152 100 152; 186 152 186]));
%! assert (c (N, box, 0.5), c (N, box, 1));
%! assert (c (N, box, NaN), c (N, box, 0));
%! assert (c (N, box, "Boundary", {{-7, Inf}, "mirror"}), c (N, box, "Boundary", {{0, 255}, "mirror"}));
%! assert (c (int8 (N), box, -200, "full")(1), int8 (round ((-8 * 128 + 100) / 9)));
%! L = true (3);
%! for number = {0.3, -2, Inf, 1}
%!   assert (c (L, box, number{1}), c (L, box, true));
%! endfor
%! assert (c (L, [0 0 1], 0.3)(:,3), true (3, 1));
%! text = fails ("ConvolutionConstantMemory_CUDA", "option", {L, box, NaN});
%! assert (! isempty (strfind (text, "got NaN")) && ! isempty (strfind (text, "logical")), text);
%! fails ("ConvolutionConstantMemory_CUDA", "option", {L, box, "Boundary", {{0, NaN}, 0}});
%! ## Numbers that no class casts stay as they are.
%! assert (isnan (c (ones (3), box, NaN)), [true true true; true false true; true true true]);


%!error id=ConvolutionConstantMemory:numberOfInputs ConvolutionConstantMemory_CUDA (1)
%!error id=ConvolutionConstantMemory:numberOfOutputs [a, b] = ConvolutionConstantMemory_CUDA (1, 1);
%!error id=ConvolutionConstantMemory:dataType ConvolutionConstantMemory_CUDA (int64 (1:9), 1)
%!error id=ConvolutionConstantMemory:filterSize ConvolutionConstantMemory_CUDA (1, [])
%!error id=ConvolutionConstantMemory:filterShape ConvolutionConstantMemory_CUDA (1, ones (3, 3, 3, 3))
%!error id=ConvolutionConstantMemory:option ConvolutionConstantMemory_CUDA (1, 1, "Colour", 1)

%!test # fewer than two inputs
%! fails (f, "numberOfInputs", {});
%! fails (f, "numberOfInputs", {}, 0);
%! fails (f, "numberOfInputs", {magic(4)});

%!test # other classes, sparse, complex: as the image, as the filter, as both
%! [all, no_floats] = no_real_floats ();
%! for v = no_floats
%!   ## Images of integers and of truth values are in images.tst.
%!   small = isa (v{1}, "integer") && ! isa (v{1}, "int64") && ! isa (v{1}, "uint64");
%!   if (! (small || islogical (v{1})) || issparse (v{1}))
%!     fails (f, "dataType", {v{1}, 1});
%!   endif
%! endfor
%! for v = all
%!   fails (f, "dataType", {magic(4), v{1}});
%!   fails (f, "dataType", {single(magic(4)), v{1}});
%!   fails (f, "dataType", {v{1}, v{1}});
%! endfor


%!test # a filter of one page goes over each page of an array of any number of dimensions
%! c = @ConvolutionConstantMemory_CUDA;
%! F = noise (3, 3, 5);
%! for dims = {[6 7 3 2], [1 9 1 2], [5 1 1 1 2], [4 5 2 0], [0 0 0 2], [1 1 1 1 1 1 3]}
%!   for kind = {"double", "single", "uint8", "logical"}
%!     A = cast (100 * noise (4, dims{1}), kind{1});
%!     for words = {{}, {"symmetric"}, {"full"}, {"valid", "conv"}, {"Iterations", 2, "Boundary", {"circular", 1}}}
%!       got = c (A, F, words{1}{:});
%!       want = c (reshape (A, dims{1}(1), dims{1}(2), []), F, words{1}{:});
%!       rows = size (want, 1);
%!       columns = size (want, 2);
%!       assert (same_bits (got, reshape (want, [rows, columns, dims{1}(3:end)])));
%!       if (isfloat (A))
%!         assert (same_bits (gather (c (DeviceArray (A), F, words{1}{:})), got));
%!       endif
%!     endfor
%!     got = c (A, {F, [1 2 1]}, "replicate");
%!     assert (size (got), size (A));
%!   endfor
%! endfor
%! u = noise (5, 4, 5, 2, 3);
%! got = c (u, F, "Previous", u / 2, "Weight", -1);
%! assert (same_bits (got, reshape (c (u(:,:,:), F, "Previous", u(:,:,:) / 2, "Weight", -1), size (u))));

%!test # a cell of boundaries has an entry for each dimension of the array, or of the filter
%! c = @ConvolutionConstantMemory_CUDA;
%! F = noise (3, 3, 5);
%! rgb = noise (6, 8, 9, 3);
%! want = c (rgb, F, "Boundary", {"circular", {1, "mirror"}, 7});
%! assert (same_bits (c (rgb, F, "Boundary", {"circular", {1, "mirror"}}), want));
%! batch = noise (7, 8, 9, 3, 2);
%! assert (same_bits (c (batch, F, "Boundary", {"circular", 2}), c (batch, F, "Boundary", {"circular", 2, 0, "mirror"})));
%! ## The host drops the third dimension of a volume of one page.
%! V = noise (8, 5, 6);
%! G = noise (9, 3, 3, 3);
%! got = c (V, G, "Boundary", {"circular", "mirror", "replicate"});
%! assert (same_bits (got(2:end-1,2:end-1), c (cat (3, V, V, V), G, "valid")));
%! assert (same_bits (c (V, G, "Boundary", {"circular", "mirror", 0}), c (V, G, "Boundary", {"circular", "mirror"})));
%! for wrong = {{0}, {0, 0, 0}, {0, 0, 0, 0}}
%!   text = fails (f, "option", {V, F, "Boundary", wrong{1}});
%!   assert (! isempty (strfind (text, "cell of")), text);
%! endfor
%! text = fails (f, "option", {batch, F, "Boundary", {0, 0, 0}});
%! assert (! isempty (strfind (text, "are 4, or of F, of which there are 2")), text);

%!test # a list of one filter is that filter
%! c = @ConvolutionConstantMemory_CUDA;
%! A = noise (6, 8, 9);
%! F = noise (3, 3, 5);
%! assert (same_bits (c (A, {F}, "full", "conv"), c (A, F, "full", "conv")));
%! assert (same_bits (c (uint8 (A), {F}), c (uint8 (A), F)));
%! s = @StencilConstantMemory_CUDA;
%! assert (same_bits (s (A, {[1 2 3]}, "mirror", "Dim", 2), s (A, [1 2 3], "mirror", "Dim", 2)));
%! text = fails (f, "filterSize", {A, {ones(2, 5000)}});
%! assert (! isempty (strfind (text, "F{1} is")), text);
%! fails (f, "dataType", {A, {}});

%!test # a filter that is empty, too large, of too many dimensions
%! for dims = {[0 0], [1 0], [0 1], [3 0], [0 3], [3 3 0], [0 3 3], [3 3 3 0]}
%!   fails (f, "filterSize", {magic(4), ones(dims{1})});
%!   fails (f, "filterSize", {[], single(ones(dims{1}))});
%! endfor
%! for dims = {[1 8192], [8192 1], [91 91], [100 100], [101 101], [2 4096], [1 1e5+1], [20 20 21], [1 1 8192], [32 32 8]}
%!   fails (f, "filterSize", {magic(4), ones(dims{1})});
%!   fails (f, "filterSize", {ones(4, 4, 4), ones(dims{1}, "single")});
%!   fails (f, "filterSize", {uint8(magic (4)), {1, ones(dims{1})}});
%!   fails (f, "filterSize", {complex(magic (4), 1), ones(dims{1})});
%! endfor
%! for dims = {[3 3 3 3], [1 1 1 3], [1 1 1 2], [2 2 2 2], [17 17 17 17], [1 1 1 1 5]}
%!   fails (f, "filterShape", {magic(4), ones(dims{1})});
%! endfor

%!test # the largest are allowed, of any class
%! for dims = {[1 8191], [8191 1], [90 91], [1 1 8191], [20 20 20], [2 4095], [15 15 1 1]}
%!   for type = {"double", "single"}
%!     p = ConvolutionConstantMemory_CUDA (2, ones (dims{1}, type{1}));
%!     assert (p, cast (2, type{1}));
%!   endfor
%!   assert (ConvolutionConstantMemory_CUDA (uint8 (2), ones (dims{1})), uint8 (2));
%! endfor

%!test # Device may be shortened to one letter here; names that two share, and those of options that others have
%! fails (f, "noDevice", {1, 1, "D", 99});
%! for name = {"B", "b", "Dim", "Dimension", "Coefficients", "C"}
%!   fails (f, "option", {magic(4), 1, name{1}, 1});
%!   fails (f, "option", {magic(4), 1, name{1}, "replicate"});
%! endfor

%!test # which error comes first where several are due
%! n = magic (4);
%! wrong = int64 (1);
%! deep = ones (2, 2, 2, 2);
%! chain = {
%!   ## arguments                                              outputs  identifier
%!   {wrong},                                                        2, "numberOfInputs"
%!   {wrong, [], "Backend"},                                         2, "numberOfInputs"
%!   {wrong, [], 7, 8},                                              2, "numberOfInputs"
%!   {n, 1, "Colour", 1, "Backend"},                                 1, "numberOfInputs"
%!   {wrong, []},                                                    2, "numberOfOutputs"
%!   {deep, [], "Colour", 1},                                        2, "numberOfOutputs"
%!   {wrong, []},                                                    1, "dataType"
%!   {deep, wrong},                                                  1, "dataType"
%!   {n, sparse([]), "Colour", 1},                                   1, "dataType"
%!   {n, true(2)},                                                   1, "dataType"
%!   {deep, []},                                                     1, "filterSize"
%!   {deep, ones(2, 2, 2, 2), "Colour", 1},                          1, "filterShape"
%!   {deep, ones(3, 3, 3), "Colour", 1},                             1, "option"
%!   {ones(2, 2, 2, 0), ones(1, 1, 3), "Backend", "auto", "Device", 99}, 1, "noDevice"
%!   {n, ones(2, 2, 2, 0), "Colour", 1},                             1, "filterSize"
%!   {n, ones(2, 2, 2, 2), "Colour", 1},                             1, "filterShape"
%!   {n, ones(2, 4096), "Colour", 1},                                1, "filterSize"
%!   {n, ones(91, 91), "Backend", "cuda", "Device", 99},             1, "filterSize"
%!   {n, 1, "Device", 99, "Colour", 1},                              1, "option"
%!   {n, 1, "Device", 99, "Backend", "none"},                        1, "option"
%!   {[], ones(91)},                                                 1, "filterSize"
%!   {n * 1i, {ones(2), []}, "Source", 1},                           1, "filterSize"
%!   {n * 1i, ones(2), "Source", 1, "Device", 99},                   1, "option"
%!   {[], 1, "Colour", 1},                                           1, "option"
%!   {[], 1, "Backend", "auto", "Device", 99},                       1, "noDevice"
%!   };
%! for i = 1:rows (chain)
%!   fails (f, chain{i,3}, chain{i,1}, chain{i,2});
%! endfor

%!test # the texts say what was got
%! n = magic (4);
%! cases = {
%!   {n},                             "1"
%!   {int64(n), 1},                   "int64"
%!   {int64(n), 1},                   "N is"
%!   {int64(n), 1},                   "double (N)"
%!   {n, sparse(1)},                  "full (F)"
%!   {n, {{1}}},                      "cell"
%!   {n, 1i},                         "complex"
%!   {ones(3), ones(100)},            "swapped"
%!   {n, ones(1, 8192)},              "1x8192"
%!   {n, ones(1, 8192)},              "8191 entries"
%!   {n, ones(1, 8192)},              "fftconv2"
%!   {n, ones(21, 20, 20)},           "fftconvn"
%!   {n, ones(3, 3, 3, 3)},           "3x3x3x3"
%!   {n, []},                         "empty"
%!   {n, 1, "Colour", 1},             "Colour"
%!   {n, 1, "Colour", 1},             "'Backend', 'Device'"
%!   };
%! for i = 1:rows (cases)
%!   text = "";
%!   try
%!     ConvolutionConstantMemory_CUDA (cases{i,1}{:});
%!   catch err
%!     text = err.message;
%!   end_try_catch
%!   assert (! isempty (strfind (text, cases{i,2})), ...
%!           "nothing of <%s> in <%s>", cases{i,2}, text);
%! endfor

%!test # inputs that look swapped: one warning in a session, with an identifier, and the result as ever
%! code = @(calls) [{"c = @ConvolutionConstantMemory_CUDA;"}; calls(:)];
%! told = @(out) numel (strfind (out, "were the two swapped"));
%! backend = {"STENCIL_BACKEND=cpu"};
%! for call = {"y = c ([1 2], ones (3, 5)); assert (y, [3 3]);", "c (uint8 (5), ones (3));", ...
%!             "c (ones (2, 2), ones (3, 3, 3));", "c (DeviceArray (1), ones (3));", ...
%!             "y = c ([1 2], ones (2, 4)); assert (y, [3 3]);", "c (1i, ones (20));", ...
%!             "c (ones (2, 2, 2, 3), ones (3, 3, 4));"}
%!   ## Once.
%!   [status, out] = run_octave (code ([call, call]), backend);
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (told (out) == 1, "%s: %s", call{1}, out);
%! endfor
%! [~, out] = run_octave (code ({"warning ('off', 'ConvolutionConstantMemory:swapped');", "c (1, ones (3));"}), backend);
%! assert (told (out), 0);
%! ## Not where one dimension is as large, nor for an empty image.
%! quiet = {"c (1:5, ones (1, 15));", "c (1:5, ones (1, 16));", "c (ones (3, 3, 1, 9), ones (2, 2, 2));", "c (ones (3), ones (3));", "c ([], ones (3));", "c (ones (1, 1, 2), ones (3));"};
%! [status, out] = run_octave (code (quiet), backend);
%! assert (status == 0 && told (out) == 0, out);
%! ## Apart from the warning that there is no GPU.
%! [status, out] = run_octave (code ({"c (1, ones (3));"}), {"STENCIL_BACKEND=auto", "CUDA_VISIBLE_DEVICES="});
%! assert (numel (strfind (out, "warning: ConvolutionConstantMemory_CUDA: ")) == 2, "it printed: %s", out);

%!test # truth values that are not counted: one warning in a session, where the entries add up to more than 1
%! told = @(out) numel (strfind (out, "ConvolutionConstantMemory:truthValues"));
%! ## Parsed together: later Octaves keep warnings of the parser.
%! code = @(lines) [{"if (true)", "c = @ConvolutionConstantMemory_CUDA; m = rand (5) > 0.3; u = DeviceArray (m, 'Backend', 'cpu');"}, lines, ...
%!                  {"[~, id] = lastwarn (); disp (id);", "end"}];
%! backend = {"STENCIL_BACKEND=cpu"};
%! quiet = {"c (m, ones (3) / 9); c (u, {ones(3, 1) / 3, [1 2 1] / 4}); c (m, [1 -1] / 2); c (double (m), ones (3));", ...
%!          "c (uint8 (m), ones (3)); c (single (u), ones (3));"};
%! for loud = {"c (m, ones (3));", "c (u, [1; -1]);", "c (m, {[1 1], [1; 0.1]});", ...
%!             "f = @(x) c (x, ones (2)); DeviceArray.iterate (f, 2, u); s = DeviceArray.compile (f, u); s (m (:,1:3));"}
%!   [status, out] = run_octave (code ([quiet, {"disp ('quiet')"}, loud, loud]), backend);
%!   at = strfind (out, "quiet");
%!   assert (status == 0 && numel (at) == 1 && isempty (strfind (out(1:at), "warning")), "%s", out);
%!   ## Files that are read after it may take its place as the last.
%!   assert (told (out) == 1 || ! isempty (strfind (loud{1}, "iterate")), "%s", out);
%!   assert (numel (strfind (out, "double (N) counts")) == 1, "%s", out);
%! endfor
