## The option Shape, and imfilter's words directly behind the filter.

%!shared stencil, convolution, boundaries, shapes
%! stencil = @(varargin) agrees_with (@fma_stencil, "StencilConstantMemory_CUDA", varargin);
%! convolution = @(varargin) agrees_with (@fma_convolution, "ConvolutionConstantMemory_CUDA", varargin);
%! boundaries = {0, -2.5, NaN, "replicate", "symmetric", "circular"};
%! shapes = {"same", "full", "valid"};

## --- Plain facts to read ---------------------------------------------------------

%!assert (StencilConstantMemory_CUDA (1:4, [1 10 100], "Shape", "full"), [100 210 321 432 43 4])
%!assert (StencilConstantMemory_CUDA (1:4, [1 10 100], "Shape", "valid"), [321 432])
%!assert (StencilConstantMemory_CUDA (1:4, [1 10 100], "Shape", "full", "Boundary", "circular"), ...
%!        [143 214 321 432 143 214])
%!assert (StencilConstantMemory_CUDA (1:2, [1 1 1], "Shape", "valid"), zeros (1, 0))
%!assert (ConvolutionConstantMemory_CUDA (ones (3), ones (3), "full"), ...
%!        [1 2 3 2 1; 2 4 6 4 2; 3 6 9 6 3; 2 4 6 4 2; 1 2 3 2 1])
%!assert (ConvolutionConstantMemory_CUDA (ones (3), ones (3), "valid"), 9)

%!test # whole numbers: conv2 and convn, exactly
%! for dims = {[20 30], [1 40], [40 1], [3 4], [1 1], [16 15], [7 9 5], [2 2 2], [1 1 9]}
%!   for size_f = {[1 1], [3 3], [1 15], [15 1], [5 3], [15 15], [3 3 3], [1 1 7], [7 5 3]}
%!     n = mod (reshape (1:prod (dims{1}), dims{1}), 13) - 5;
%!     f = mod (reshape (1:prod (size_f{1}), size_f{1}), 7) - 2;
%!     for shape = shapes
%!       want = convn (n, f, shape{1});
%!       assert (ConvolutionConstantMemory_CUDA (n, f, "conv", "Shape", shape{1}), want);
%!       assert (ConvolutionConstantMemory_CUDA (single (n), f, shape{1}, "conv"), single (want));
%!     endfor
%!   endfor
%! endfor

%!test # Octave's own forms of a correlation with 'full' and 'valid', for the stencil
%! x = mod (1:50, 11) - 3;
%! for m = 1:2:21
%!   k = mod (1:m, 5) - 1;
%!   for shape = shapes
%!     assert (StencilConstantMemory_CUDA (x, k, "Shape", shape{1}), conv2 (x, fliplr (k), shape{1}));
%!   endfor
%! endfor

%!assert (StencilConstantMemory_CUDA (1:4, [1 10], "Shape", "full"), [10 21 32 43 4])
%!assert (StencilConstantMemory_CUDA (1:4, [1 10], "Shape", "valid"), [21 32 43])
%!assert (ConvolutionConstantMemory_CUDA (ones (3), ones (2), "full"), [1 2 2 1; 2 4 4 2; 2 4 4 2; 1 2 2 1])
%!assert (ConvolutionConstantMemory_CUDA (ones (3), ones (2, 4), "valid"), zeros (2, 0))

%!test # even and large filters: sizes and whole numbers of conv2 and convn
%! for dims = {[20 30], [1 40], [40 1], [3 4], [1 1], [2 2], [7 9 5], [2 2 2], [1 1 9], [0 3], [3 0], [0 0]}
%!   for size_f = {[2 2], [1 2], [2 1], [4 5], [1 30], [20 1], [16 18], [41 3], [2 2 2], [1 1 4], [3 4 5], [9 2 9]}
%!     n = mod (reshape (1:prod (dims{1}), dims{1}), 13) - 5;
%!     f = mod (reshape (1:prod (size_f{1}), size_f{1}), 7) - 2;
%!     for shape = shapes
%!       if (! takes ("whole numbers", dims, size_f, shape))
%!         continue
%!       endif
%!       want = convn (n, f, shape{1});
%!       if (isempty (n))
%!         ## Along a dimension of no samples there are no outputs.
%!         sizes = [size(n), 1](1:3);
%!         more = struct ("same", 0, "full", 1, "valid", -1).(shape{1}) * ([size(f), 1](1:3) - 1);
%!         want = zeros (max (sizes + more, 0) .* (sizes > 0));
%!       endif
%!       got = ConvolutionConstantMemory_CUDA (n, f, "conv", shape{1});
%!       assert (size (got), size (want));
%!       assert (isempty (got) || isequal (got, want));
%!       got = ConvolutionConstantMemory_CUDA (uint8 (abs (n)), abs (f), "conv", shape{1});
%!       assert (size (got), size (want));
%!       assert (isempty (got) || isequal (got, uint8 (convn (abs (n), abs (f), shape{1}))));
%!       if (isrow (n) && numel (n) > 1 && isrow (f))
%!         got = StencilConstantMemory_CUDA (n, f, "conv", shape{1});
%!         assert (isequal (got, want) && isequal (size (got), size (want)));
%!       endif
%!     endfor
%!   endfor
%! endfor

## --- The very bits -------------------------------------------------------------------

%!test # the stencil: even counts, long ones and singles, along every dimension
%! for m = [2 6 22 40]
%!   for boundary = {0, -2.5, "symmetric", "circular", {1, "mirror"}}
%!     for shape = shapes(2:3)
%!       if (! takes ("even stencils", m, boundary, shape))
%!         continue
%!       endif
%!       o = {"Boundary", boundary{1}, "Shape", shape{1}};
%!       stencil (noise (m, 1, 60), noise (2, 1, m), o{:});
%!       stencil (single (noise (m, 45, 3)), noise (2, 1, m), o{:});
%!       for dim = 1:4
%!         stencil (noise (m, 5, 24, 3), single (noise (2, 1, m)), o{:}, "Dim", dim);
%!       endfor
%!       stencil (noise (m, 1, 3), noise (2, 1, m), o{:});
%!       stencil (5, noise (2, 1, m), o{:});
%!     endfor
%!   endfor
%! endfor
%! stencil (single (noise (1, 40, 3)), noise (2, 1, 9), "Shape", "full", "Boundary", "mirror");

%!test # the convolution: even sizes and large ones, also larger than the image
%! for dims = {[13 17], [1 20], [2 3], [1 1], [6 7 5], [3 4 3 2]}
%!   for size_f = {[2 2], [4 5], [1 22], [16 17], [2 3 2], [1 1 4], [3 9 2]}
%!     for boundary = {0, NaN, "replicate", "circular", "mirror"}
%!       for shape = shapes(2:3)
%!         if (! takes ("even filters", dims, size_f, boundary, shape))
%!           continue
%!         endif
%!         o = {"Boundary", boundary{1}, "Shape", shape{1}};
%!         n = noise (1, dims{1});
%!         f = noise (2, size_f{1});
%!         if (mod (numel (f), 4) < 2)
%!           n = single (n);
%!         endif
%!         convolution (n, f, o{:});
%!       endfor
%!     endfor
%!   endfor
%! endfor

%!test # the stencil: every count of taps, every boundary, along every dimension
%! for m = [1 3 9 21]
%!   for boundary = boundaries
%!     for shape = shapes(2:3)
%!       if (! takes ("stencils", m, boundary, shape))
%!         continue
%!       endif
%!       o = {"Boundary", boundary{1}, "Shape", shape{1}};
%!       stencil (noise (m, 1, 60), noise (2, 1, m), o{:});
%!       stencil (noise (m, 25, 3), noise (2, 1, m), o{:});
%!       for dim = 1:4
%!         stencil (noise (m, 5, 24, 6), noise (2, 1, m), o{:}, "Dim", dim);
%!       endfor
%!       stencil (noise (m, 1, 3), noise (2, 1, m), o{:});
%!       stencil (5, noise (2, 1, m), o{:});
%!     endfor
%!   endfor
%! endfor

%!test # the convolution: images and volumes, also smaller than the filter
%! for dims = {[13 17], [1 20], [20 1], [2 3], [1 1], [6 7 5], [1 2 3]}
%!   for size_f = {[3 3], [1 15], [7 5], [3 5 3], [1 1 7]}
%!     for boundary = boundaries
%!       for shape = shapes(2:3)
%!         if (! takes ("filters", dims, size_f, boundary, shape))
%!           continue
%!         endif
%!         o = {"Boundary", boundary{1}, "Shape", shape{1}};
%!         n = noise (1, dims{1});
%!         f = noise (2, size_f{1});
%!         convolution (n, f, o{:});
%!         convolution (single (n), f, o{:});
%!       endfor
%!     endfor
%!   endfor
%! endfor

%!test # empty arrays: along a dimension of no samples there are no outputs
%! for dims = {[0 0], [0 5], [5 0], [4 0 3]}
%!   for shape = shapes
%!     stencil (zeros (dims{1}), 1:3, "Shape", shape{1}, "Boundary", "symmetric");
%!     convolution (zeros (dims{1}), ones (3, 3), "Shape", shape{1}, "Boundary", "circular");
%!   endfor
%! endfor
%! assert (size (StencilConstantMemory_CUDA (zeros (0, 4), 1:3, "Dim", 2, "Shape", "full")), [0 6]);
%! assert (size (StencilConstantMemory_CUDA (zeros (3, 4), 1:3, "Dim", 3, "Shape", "valid")), [3 4 0]);
%! assert (size (StencilConstantMemory_CUDA (zeros (3, 4), 1:3, "Dim", 64, "Shape", "full"))(end), 3);

%!test # more than one piece: the inside is that of "same", the rest that of a padded array
%! for shape = {[3100 3000], [1, 9e6]}
%!   dims = shape{1};
%!   if (is_small ())
%!     dims = min (dims, [310, 9e4]);
%!   endif
%!   n = mod (reshape (1:prod (dims), dims), 1013) - 500;
%!   f = [1 2 3; 4 5 6; 7 8 -9](1:min (3, dims(1)),:);
%!   r = (size (f) - 1) / 2;
%!   whole = ConvolutionConstantMemory_CUDA (n, f, "full", "symmetric");
%!   assert (size (whole), dims + 2 * r);
%!   same = ConvolutionConstantMemory_CUDA (n, f, "symmetric");
%!   assert (isequal (whole(1+r(1):end-r(1), 1+r(2):end-r(2)), same));
%!   valid = ConvolutionConstantMemory_CUDA (n, f, "valid");
%!   assert (isequal (valid, same(1+r(1):end-r(1), 1+r(2):end-r(2))));
%!   corner = ConvolutionConstantMemory_CUDA (n(1:min (9, end),1:9), f, "full", "symmetric");
%!   rows = 1:min (3, dims(1));
%!   assert (whole(rows,1:3), corner(rows,1:3));
%!   clear whole same valid
%! endfor

%!testif ; ! is_small () && ! isnan (resident ())  # needs /proc; large: runs in make test-all, not on the stand-in
%! ## Apart from input and output, a large array takes no more than two buffers of 64 MiB; a tenth more for allocators.
%! ## In a separate process, whose peak is not that of another test.
%! [status, out] = run_octave ({
%!   "n = ones (6000, 5000);"
%!   "ConvolutionConstantMemory_CUDA (ones (2000), ones (3), 'valid');"  # with all the buffers that are kept
%!   "before = resident ();"
%!   "p = ConvolutionConstantMemory_CUDA (n, ones (3), 'full', 'symmetric');"
%!   "printf ('%d\\n', resident ('VmHWM') - before);"});
%! assert (status == 0, "status %d: %s", status, out);
%! taken = str2double (regexp (out, '^\d+', "match", "once"));
%! outputs = 6002 * 5002 * 8 / 1024;
%! copies = 1 + ! any (strcmp (ConstantMemoryDevice_CUDA ().Outputs, {"direct", "lent"}));
%! assert (taken < 1.1 * (copies * outputs + 2 * 65536), "it took %g KiB, the output has %g", taken, outputs);

## --- Arrays that stay on the device --------------------------------------------------

%!test # the same bits as from the host
%! for boundary = boundaries
%!   for shape = shapes
%!     if (! takes ("on the device", boundary, shape))
%!       continue
%!     endif
%!     o = {"Boundary", boundary{1}, "Shape", shape{1}};
%!     x = noise (1, 12, 9, 4);
%!     for dim = 1:4
%!       y = StencilConstantMemory_CUDA (DeviceArray (x), noise (2, 1, 7), o{:}, "Dim", dim);
%!       assert (class (y), "DeviceArray");
%!       want = StencilConstantMemory_CUDA (x, noise (2, 1, 7), o{:}, "Dim", dim);
%!       assert (size (y), size (want));
%!       assert (same_bits (gather (y), want));
%!     endfor
%!     y = StencilConstantMemory_CUDA (DeviceArray (x), noise (2, 1, 24), o{:});
%!     assert (same_bits (gather (y), StencilConstantMemory_CUDA (x, noise (2, 1, 24), o{:})));
%!     for size_f = {[3 3], [1 15], [3 1 3], [5 7 7], [4 2], [2 2 4]}
%!       f = noise (3, size_f{1});
%!       for n = {x, single(x), x(:,:,1), x(1:2,1:3), x(1)}
%!         y = ConvolutionConstantMemory_CUDA (DeviceArray (n{1}), f, o{:});
%!         want = ConvolutionConstantMemory_CUDA (n{1}, f, o{:});
%!         assert (size (y), size (want));
%!         assert (same_bits (gather (y), want));
%!       endfor
%!     endfor
%!   endfor
%! endfor

%!test # what comes out goes in again: full, then valid, is a filter by itself and turned round
%! u = DeviceArray (mod (magic (8), 7));
%! v = ConvolutionConstantMemory_CUDA (u, [1 2 1], "full");
%! assert (size (v), [8 10]);
%! w = ConvolutionConstantMemory_CUDA (v + 0, [0 1 0; 0 0 0; 0 0 0], "valid");
%! assert (size (w), [6 8]);
%! assert (gather (w), conv2 (mod (magic (8), 7), [1 2 1])(1:6,2:9));
%! e = StencilConstantMemory_CUDA (DeviceArray (ones (2, 3)), ones (1, 5), "Shape", "valid", "Dim", 1);
%! assert (size (e), [0 3]);

## --- Sweeps ----------------------------------------------------------------------------

%!test # shapes go with one sweep; no sweep gives the input
%! for f = {"StencilConstantMemory_CUDA", "ConvolutionConstantMemory_CUDA"}
%!   for shape = shapes(2:3)
%!     for count = {2, 3, 1000, int8(2)}
%!       text = fails (f{1}, "option", {1:9, [1 2 1], "Shape", shape{1}, "Iterations", count{1}});
%!       assert (! isempty (strfind (text, ["'" shape{1} "'"])) && ! isempty (strfind (text, "'Iterations'")), text);
%!       fails (f{1}, "option", {1:9, [1 2 1], "Iterations", count{1}, "Shape", shape{1}});
%!       fails (f{1}, "option", {DeviceArray(1:9), [1 2 1], "Iterations", count{1}, "Shape", shape{1}});
%!     endfor
%!     assert (feval (f{1}, 1:9, [1 2 1], "Shape", shape{1}, "Iterations", 0), 1:9);
%!     assert (numel (feval (f{1}, 1:9, [1 2 1], "Shape", shape{1}, "Iterations", true)), {11, 7}{1 + shape{1}(1)=='v'});
%!   endfor
%!   assert (feval (f{1}, 1:3, [0 1 0], "Shape", "SAME", "Iterations", 5), 1:3);
%! endfor

%!test # values of Shape
%! for f = {"StencilConstantMemory_CUDA", "ConvolutionConstantMemory_CUDA"}
%!   for value = {"", "ful", "whole", "full ", 1, [], {}, {"full"}, true, struct(), @sin, ["full"; "full"]}
%!     text = fails (f{1}, "option", {1:9, [1 2 1], "Shape", value{1}});
%!     assert (! isempty (strfind (text, "'Shape'")) && ! isempty (strfind (text, "'valid'")), text);
%!     fails (f{1}, "option", {1:9, [1 2 1], "s", value{1}});
%!   endfor
%! endfor
%! fails ("DerivativeConstantMemory_CUDA", "option", {1:9, 1, "Shape", "full"});
%! fails ("StencilConstantMemory_CUDA", "option", {1:9, [1 2 1], "Shape", "full", "Dim", 2 ^ 31});

## --- imfilter's words --------------------------------------------------------------------

%!test # a word says what the option says, in any order and in any case; options may follow
%! n = noise (1, 9, 8);
%! f = noise (2, 3, 5);
%! c = @ConvolutionConstantMemory_CUDA;
%! for boundary = [boundaries, {single(0.1), int8(-3), true, Inf}]
%!   want = c (n, f, "Boundary", boundary{1});
%!   assert (same_bits (c (n, f, boundary{1}), want));
%!   assert (same_bits (c (n, f, boundary{1}, "Backend", "cpu"), want));
%!   for shape = shapes
%!     want = c (n, f, "Boundary", boundary{1}, "Shape", shape{1});
%!     assert (same_bits (c (n, f, boundary{1}, shape{1}), want));
%!     assert (same_bits (c (n, f, upper (shape{1}), "Corr", boundary{1}), want));
%!     assert (same_bits (c (n, f, shape{1}, "Boundary", boundary{1}), want));
%!     want = c (n, rot90 (f, 2), "Boundary", boundary{1}, "Shape", shape{1});
%!     assert (same_bits (c (n, f, "conv", shape{1}, boundary{1}), want));
%!     assert (same_bits (gather (c (DeviceArray (n), f, "conv", shape{1}, boundary{1})), want));
%!   endfor
%! endfor
%! v = noise (3, 5, 6, 4);
%! f = noise (4, 3, 1, 5);
%! assert (same_bits (c (v, f, "conv"), c (v, flip (flip (flip (f, 1), 2), 3))));
%! assert (c (n, ones (3) / 9, "replicate", "Iterations", 4), c (n, ones (3) / 9, "Boundary", "replicate", "Iterations", 4));

%!test # said twice: an error that names it; a second number is no word
%! f = "ConvolutionConstantMemory_CUDA";
%! for twice = {{"circular", "replicate"}, {0, "circular"}, {"full", "valid"}, {"same", "same"}, {"conv", "corr"}, ...
%!              {"full", "Shape", "full"}, {"circular", "Boundary", 0}, {1, "bo", 1}}
%!   text = fails (f, "option", [{magic(4), ones(3)}, twice{1}]);
%!   assert (! isempty (strfind (text, "twice")), text);
%! endfor
%! fails (f, "numberOfInputs", {magic(4), ones(3), 1, 2});
%! fails (f, "numberOfInputs", {magic(4), ones(3), "circular", 2});
%! fails (f, "numberOfInputs", {magic(4), ones(3), [1 2]});
%! fails (f, "option", {magic(4), ones(3), "Backend", "cpu", "full", "x"});

%!test # a text that is no word: the words, and the nearest one
%! for f = {"StencilConstantMemory_CUDA", "ConvolutionConstantMemory_CUDA"}
%!   for given = {{"symetric"}, {"full", "symetric"}, {"symetric", "Backend", "cpu"}, {"Backend", "cpu", "symetric"}}
%!     text = fails (f{1}, "option", [{1:9, 1}, given{1}]);
%!     for expected = {"'symetric'", "the words are 'replicate', 'symmetric', 'mirror', 'circular', 'same'", "Is 'symmetric' meant?"}
%!       assert (! isempty (strfind (text, expected{1})), text);
%!     endfor
%!   endfor
%!   for given = {{"half"}, {"full", "half"}, {"x"}}
%!     text = fails (f{1}, "option", [{1:9, 1}, given{1}]);
%!     assert (isempty (strfind (text, "meant")) && ! isempty (strfind (text, "the words are")), text);
%!   endfor
%!   text = fails (f{1}, "option", {1:9, 1, "Backend", "cpu", "full"});
%!   assert (! isempty (strfind (text, "directly behind the filter")), text);
%! endfor

%!test # so does the stencil, but for a number
%! x = noise (1, 9, 8);
%! k = noise (2, 1, 5);
%! s = @StencilConstantMemory_CUDA;
%! for boundary = boundaries
%!   if (ischar (boundary{1}))
%!     want = s (x, k, "Boundary", boundary{1});
%!     assert (same_bits (s (x, k, boundary{1}), want));
%!     assert (same_bits (s (x, k, "corr", boundary{1}, "Dim", 1), want));
%!     assert (same_bits (s (x, k, "conv", boundary{1}), s (x, fliplr (k), "Boundary", boundary{1})));
%!     assert (same_bits (gather (s (DeviceArray (x), k, boundary{1})), want));
%!     for shape = shapes
%!       assert (same_bits (s (x, k, upper (shape{1}), boundary{1}), ...
%!                          s (x, k, "Boundary", boundary{1}, "Shape", shape{1})));
%!     endfor
%!     assert (same_bits (s (x, {k, [1 2 4]}, "conv", boundary{1}, "Iterations", 2), ...
%!                        s (x, {fliplr(k), [4 2 1]}, "Boundary", boundary{1}, "Iterations", 2)));
%!   endif
%! endfor
%! for twice = {{"circular", "replicate"}, {"full", "valid"}, {"conv", "corr"}, {"circular", "Boundary", 0}}
%!   text = fails ("StencilConstantMemory_CUDA", "option", [{1:9, 1}, twice{1}]);
%!   assert (! isempty (strfind (text, "twice")), text);
%! endfor
%! for number = {0, 1, single(2), true}
%!   fails ("StencilConstantMemory_CUDA", "numberOfInputs", {1:9, 1, number{1}});
%! endfor

%!test # the derivative has no such words
%! for word = {"replicate", "symmetric", "circular", 0, 1, "same", "full", "valid", "corr", "conv"}
%!   fails ("DerivativeConstantMemory_CUDA", "numberOfInputs", {1:9, 1, word{1}});
%! endfor

## --- The words of other tools ---------------------------------------------------------------

%!test # ours is named, wherever a boundary may stand
%! words = {"periodic", "'circular'"; "wrap", "'circular'"; "nearest", "'replicate'"; "zero", "0"; "constant", "0"; ...
%!          "reflect", "'symmetric'"; "reflect", "'mirror'"; "Reflect", "SciPy"; "reflect", "NumPy"};
%! for w = words.'
%!   for f = {"StencilConstantMemory_CUDA", "DerivativeConstantMemory_CUDA", "ConvolutionConstantMemory_CUDA"}
%!     text = fails (f{1}, "option", {1:9, 1, "Boundary", w{1}});
%!     assert (! isempty (strfind (text, [w{2}])) && ! isempty (strfind (text, ["'" lower(w{1}) "' is"])), text);
%!   endfor
%!   for f = {"StencilConstantMemory_CUDA", "ConvolutionConstantMemory_CUDA"}
%!     text = fails (f{1}, "option", {1:9, 1, w{1}});
%!     assert (! isempty (strfind (text, w{2})), text);
%!   endfor
%! endfor
%! text = fails ("StencilConstantMemory_CUDA", "option", {1:9, 1, "Boundary", "mirrored"});
%! assert (isempty (strfind (text, "other tools")), text);
