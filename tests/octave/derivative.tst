## DerivativeConstantMemory_CUDA computes a derivative of eighth order, and bit for bit the chain of the contract.
## Errors that it shares with the other functions are in errors.tst.

%!shared f, ok, c
%! f = "DerivativeConstantMemory_CUDA";
%! ## Options do not change what the reference returns.
%! ok = @(varargin) agrees_with (@fma_derivative, f, varargin);
%! c = [4/5, -1/5, 4/105, -1/280];

## --- It is a derivative -------------------------------------------------------

%!test # polynomials up to degree 8, away from the edges: 16 eps sum|c_i| max|f|
%! ## Whole numbers: the samples are exact in double, the derivative known.
%! for type = {"double", "single"}
%!   for n = [5 6 9 20]
%!     x = -n:n;
%!     for degree = 0:8
%!       for h = [1, 0.1, 1/3, 2^-10, 1e3, 1e-9]
%!         p = 1 + mod ((1:degree+1) * 5 + degree, 7) .* (-1) .^ (1:degree+1);
%!         samples = cast (polyval (p, x), type{1});
%!         slope = polyval (polyder (p), x) / h;
%!         d = DerivativeConstantMemory_CUDA (samples, h);
%!         bound = 16 * eps (type{1}) * sum (abs (c / h)) * max (abs (double (samples)));
%!         off = max (abs (double (d(5:end-4)) - slope(5:end-4)));
%!         assert (off <= bound, "%s, degree %d, h %g: off by %g, allowed %g", ...
%!                 type{1}, degree, h, off, bound);
%!       endfor
%!     endfor
%!   endfor
%! endfor

%!test # and degree 9 is where it ends: the error is h^8/630 of the ninth derivative
%! x = -9:9;
%! d = DerivativeConstantMemory_CUDA (x .^ 9);
%! off = d(5:end-4) - 9 * x(5:end-4) .^ 8;
%! assert (off, -576 * ones (1, 11), 1e-3);

%!test # order 8 on a sine
%! ## Samples stand where the cosine is 1, so that the largest error is found whatever h.
%! cases = {"double", 2 .^ (0:-1:-4); "single", 2 .^ [0 -1]};
%! for i = 1:rows (cases)
%!   [type, hs] = cases{i,:};
%!   off = zeros (size (hs));
%!   for j = 1:numel (hs)
%!     x = (-100:100) * hs(j);
%!     d = DerivativeConstantMemory_CUDA (cast (sin (x), type), hs(j));
%!     off(j) = max (abs (double (d(5:end-4)) - cos (x(5:end-4))));
%!     ## The formula's error without any rounding: h^8/630 for small h.
%!     want = abs (1 - 2 / hs(j) * (c * sin ((1:4).' * hs(j))));
%!     assert (off(j), want, 16 * eps (type) * sum (abs (c / hs(j))));
%!   endfor
%!   order = -diff (log2 (off));
%!   assert (all (order > 7.6 & order < 8.1), "%s: order %s", type, mat2str (order, 4));
%! endfor

%!test # with h, and without
%! x = noise (1, 1, 100);
%! d = DerivativeConstantMemory_CUDA (x);
%! assert (same_bits (d, DerivativeConstantMemory_CUDA (x, 1)));
%! assert (same_bits (d, DerivativeConstantMemory_CUDA (x, "Backend", "cpu")));
%! assert (same_bits (d, DerivativeConstantMemory_CUDA (x, "Coefficients", "constant")));
%! ## A power of two only shifts.
%! assert (same_bits (DerivativeConstantMemory_CUDA (x, 0.25), 4 * d));
%! ok (x);
%! ok (single (x));

%!test # no output asked for: ans is set
%! DerivativeConstantMemory_CUDA ([0 0 0 0 1 0 0 0 0]);
%! assert (same_bits (ans, [fliplr(c), 0, -c]));

%!test # the same as a stencil of nine taps, to rounding
%! x = noise (1, 300, 5);
%! taps = [-fliplr(c), 0, c];
%! off = abs (DerivativeConstantMemory_CUDA (x) - StencilConstantMemory_CUDA (x, taps));
%! assert (all ((off <= 10 * eps * StencilConstantMemory_CUDA (abs (x), abs (taps)))(:)));

## --- Edges: samples outside are zero --------------------------------------------

%!test # the first and the last four values are no derivative
%! d = DerivativeConstantMemory_CUDA (ones (1, 30));
%! left = [sum(c), sum(c(2:4)), sum(c(3:4)), c(4)];
%! assert (d, [left, zeros(1, 22), -fliplr(left)], 4 * eps);
%! assert (all (d(5:26) == 0) && all (d([1:4, 27:30]) != 0));

%!test # lines too short to have a middle
%! for n = 0:12
%!   d = DerivativeConstantMemory_CUDA ([zeros(1, 4), 1:n, zeros(1, 4)]);
%!   [yes, why] = same_bits (DerivativeConstantMemory_CUDA (1:n), d(5:end-4));
%!   assert (yes, "%d samples: %s", n, why);
%! endfor
%! assert (same_bits (DerivativeConstantMemory_CUDA (7), 0));
%! assert (DerivativeConstantMemory_CUDA ([1 1]), [0.8 -0.8]);

## --- The very bits -------------------------------------------------------------------

%!test # lengths 0 to 70, both classes, both ways round
%! for n = 0:70
%!   if (! takes ({"lengths", n}, min (n, 20)))
%!     continue
%!   endif
%!   ok (noise (n, 1, n), 0.3);
%!   ok (noise (n, n, 1), 0.3);
%!   ok (single (noise (n, 1, n)), 0.3);
%!   ok (single (noise (n, n, 1)), 0.3);
%! endfor

%!test # spacings of all sizes
%! for h = [1, pi, 0.1, 1/3, 3, 7, 1e-3, 1e5, 840, 1/840, 2^-20, 1e10, 1e-10, 1e30, 1e-30]
%!   ok (noise (3, 1, 400), h);
%!   ok (single (noise (4, 1, 400)), h);
%! endfor

%!test # coefficients at the ends of the range: denormal, zero, and as large as they can be
%! for h = [1e38, 1e39, 1e45, 1e60, 1e300, realmax, 1e-37, 1e-38, 1e-39, 1e-60, 1e-300, realmin]
%!   ok (noise (5, 1, 60), h);
%!   ok (1e300 * noise (7, 1, 60), h);
%!   ok (ones (1, 20), h);
%!   if (h > 1e-38)
%!     ok (single (noise (6, 1, 60)), h);
%!     ok (single (ones (1, 20)), h);
%!   endif
%! endfor
%! assert (all (DerivativeConstantMemory_CUDA (ones (1, 20), 1e-39)(5:16) == 0));

%!error id=DerivativeConstantMemory:spacing DerivativeConstantMemory_CUDA (ones (1, 20), 1e-320)
%!error id=DerivativeConstantMemory:spacing DerivativeConstantMemory_CUDA (ones (1, 20), 2^-1074)
%!error id=DerivativeConstantMemory:spacing DerivativeConstantMemory_CUDA (ones (1, 20), 2^-1074, "NoOption", 1)
%!error id=DerivativeConstantMemory:spacing DerivativeConstantMemory_CUDA (ones (1, 20, "single"), 1e-39)

%!test # the division by h is in double, and rounded once to the class
%! h = 3.3;
%! d = DerivativeConstantMemory_CUDA (single ([0 0 0 0 1 0 0 0 0]), h);
%! assert (same_bits (d, [fliplr(single (c / h)), 0, -single(c / h)]));
%! ## Some of these spacings must tell this from single arithmetic.
%! hs = 1 + (1:200) / 7;
%! assert (any (arrayfun (@(h) any (single (c / h) != single (c) / single (h)), hs)));
%! for h = hs
%!   d = DerivativeConstantMemory_CUDA (single ([0 0 0 0 1 0 0 0 0]), h);
%!   assert (same_bits (d(6:9), -single (c / h)));
%! endfor

%!test # lengths on either side of where blocks, tiles and pieces may end
%! for n = [31:33, 63:65, 124:132, 247:264, 508:520, 1016:1032, 2040:2056, 4088:4104, 8184:8200]
%!   if (! takes ({"edges", n}, round (log2 (n)), mod (n, 4)))
%!     continue
%!   endif
%!   ok (noise (n, 1, n), 0.7);
%!   ok (single (noise (n, n, 1)), 0.7);
%! endfor
%! for n = 2 ^ 15 + [-4 -1 0 1 4 8], ok (noise (n, 1, n), 0.7); ok (single (noise (n, 1, n)), 0.7); endfor
%! for n = 2 ^ 18 + [-1 0 1 9],      ok (noise (n, 1, n), 0.7); ok (single (noise (n, 1, n)), 0.7); endfor

%!test # long lines equal their own pieces, wherever these are cut
%! n = 2 ^ 19 + 77;
%! for type = {"double", "single"}
%!   x = cast (noise (5, 1, n), type{1});
%!   d = DerivativeConstantMemory_CUDA (x, 0.7);
%!   for step = [9973, 262144, 400000]
%!     for first = 1:step:n
%!       last = min (first + step - 1, n);
%!       lo = max (first - 4, 1);
%!       part = DerivativeConstantMemory_CUDA (x(lo:min (last + 4, n)), 0.7)(first-lo+1:last-lo+1);
%!       [yes, why] = same_bits (d(first:last), part);
%!       assert (yes, "%s, %d to %d: %s", type{1}, first, last, why);
%!     endfor
%!   endfor
%! endfor

%!test # shapes: along the first dimension that is not 1
%! shapes = {[7 5], [21 4], [1 1 40], [1 1 5 7], [33 1 6], [1 9 6], [5 4 3 2], [2 2 2 2 2], ...
%!           [1 1 1 1 30], [20 1 1 3], [641 3], [1 641 3], [100 100], [8 300], [9 300], [10 300]};
%! for i = 1:numel (shapes)
%!   ok (noise (i, shapes{i}), 0.3);
%!   ok (single (noise (i, shapes{i})), 0.3);
%! endfor
%! x = reshape (1:24, 1, 1, 12, 2);
%! d = DerivativeConstantMemory_CUDA (x);
%! assert (size (d), size (x));
%! assert (squeeze (d(1,1,5:8,:)), ones (4, 2), 100 * eps);

%!test # lines shorter than nine points, very many of them; and much of both
%! for dims = {[3 1000], [2 5000], [3 1 2000], [1 2 3000], [5 7 100], [4 20000], [8 3000], [700 400], [20000 14]}
%!   ok (noise (1, dims{1}), 0.3);
%!   ok (single (noise (1, dims{1})), 0.3);
%! endfor

%!test # every empty shape comes back as it went in, in its class
%! for dims = {[0 0], [0 1], [1 0], [0 3], [3 0], [0 0 0], [1 1 0], [1 0 4], ...
%!             [0 3 2], [3 0 2], [3 2 0], [1 1 0 5], [2 3 0 4]}
%!   for type = {"double", "single"}
%!     d = DerivativeConstantMemory_CUDA (zeros (dims{1}, type{1}), 2);
%!     assert (size (d), dims{1});
%!     assert (class (d), type{1});
%!   endfor
%! endfor
%! assert (size (DerivativeConstantMemory_CUDA ([])), [0 0]);
%! assert (size (DerivativeConstantMemory_CUDA (1:0)), [1 0]);

%!test # the class is that of f, whatever that of h
%! for type = {"double", "single"}
%!   for h = {2, single(2), int8(2), uint64(2)}
%!     d = DerivativeConstantMemory_CUDA (ones (4, 5, type{1}), h{1});
%!     assert (class (d), type{1});
%!     assert (isreal (d) && ! iscomplex (d) && ! issparse (d));
%!     assert (size (d), [4 5]);
%!   endfor
%! endfor

%!test # h of every numeric class, with its own value
%! x = noise (2, 1, 50);
%! for h = {3, single(3), int8(3), int16(3), int32(3), int64(3), uint8(3), uint16(3), uint32(3), uint64(3)}
%!   ok (x, h{1});
%!   assert (same_bits (DerivativeConstantMemory_CUDA (x, h{1}), DerivativeConstantMemory_CUDA (x, 3)));
%! endfor
%! ## A single is the double of its value, not of the digits it was typed with.
%! ok (x, single (0.1));
%! assert (! same_bits (DerivativeConstantMemory_CUDA (x, single (0.1)), DerivativeConstantMemory_CUDA (x, 0.1)));
%! ok (x, intmax ("uint64"));
%! ok (x, int64 (2) ^ 53 + 1);
%! ok (x, ones (1, 1, 1));
%! ok (x, eye (1));
%! ok (x, 2:2);

%!test # values that Octave stores in ways of its own: ranges, diagonals, permutations, indices
%! ok (1:30);
%! ok (0:0.1:7, 0.1);
%! ok (10:-1:1, 3);
%! ok ((1:19)');
%! ok (single (1):single (30));
%! ok (eye (12));
%! ok (3.5 * eye (30, 11), 0.1);
%! ok (eye (5)([3 1 2 5 4],:));
%! ok (find (noise (1, 40, 1) > 0));
%! x = noise (3, 12, 10);
%! for v = {x.', x(:), x(:).', reshape(x, 10, 12), permute(x, [3 1 2]), x(3:12,:), x(:,4), x(2,:), ...
%!          x(end:-1:1,:), x(13:60), cat(3, x, x)}
%!   ok (v{1}, 0.3);
%!   ok (single (v{1}), 0.3);
%! endfor

%!test # the difference is rounded before it is multiplied
%! x = [0 0 0 0 1e16 0 1 0 0 0 0];
%! x(5) = -1;
%! x(7) = 1e16;
%! ok (x);
%! ok (single (x));
%! assert (DerivativeConstantMemory_CUDA ([-1 0 2^53])(2), 0.8 * 2^53);
%! assert (DerivativeConstantMemory_CUDA (single ([-1 0 2^24]))(2), single (0.8) * single (2^24));

%!test # NaN and Inf reach four points to either side, and not the point itself
%! for type = {"double", "single"}
%!   x = ones (1, 60, type{1});
%!   x(30) = NaN;
%!   d = DerivativeConstantMemory_CUDA (x);
%!   assert (find (isnan (d)), [26:29, 31:34]);
%!   x(30) = Inf;
%!   d = DerivativeConstantMemory_CUDA (x);
%!   assert (d([26:29, 31:34]), cast ([-Inf Inf -Inf Inf, -Inf Inf -Inf Inf], type{1}));
%!   assert (isfinite (d([1:25, 30, 35:60])));
%!   spiked = cast (noise (1, 1, 3000), type{1});
%!   spiked(3:97:end) = NaN;
%!   spiked(7:101:end) = Inf;
%!   spiked(11:103:end) = -Inf;
%!   spiked(13:89:end) = -0;
%!   ok (spiked, 0.3);
%!   ok (NaN (1, 5, type{1}));
%!   ok (Inf (9, 2, type{1}));
%! endfor

%!test # zeros of either sign
%! for type = {"double", "single"}
%!   ok (zeros (1, 20, type{1}));
%!   ok (-zeros (1, 20, type{1}));
%!   ok (cast ([0 -0 -0 0 0 -0 1 -1 -0 0 -0 0 0 -0], type{1}));
%!   ## Differences that are -0, and products too small for the class that are.
%!   assert (! any (signbit (DerivativeConstantMemory_CUDA (-zeros (1, 20, type{1})))));
%!   ok (cast ([0 0 0 0 -1 0 0 0 0], type{1}), realmax);
%! endfor

%!test # denormals, in and out, are kept and rounded like other numbers
%! for h = [1, 0.3, 0.01, 7, 1e4]
%!   ok (2 ^ -1074 * (-20:20), h);
%!   ok (single (2 ^ -149 * (-20:20)), h);
%!   ok (realmin * noise (1, 1, 60), h);
%!   ok (single (realmin ("single") * noise (2, 1, 60)), h);
%! endfor
%! ok (2 ^ -1074 * mod ((1:60) .^ 2, 7));
%! ok (single (2 ^ -149 * mod ((1:60) .^ 2, 7)));
%! ## It leaves the host's own arithmetic as it was.
%! assert (realmin / 2 > 0 && 2 ^ -1074 * 1.5 == 2 ^ -1073);
%! assert (realmin ("single") / 2 > 0);

%!test # what is too large becomes Inf
%! ok (realmax * [1 -1 1 1 -1 1 -1 -1 1 1 1 -1]);
%! ok (realmax ("single") * single ([1 -1 1 1 -1 1 -1 -1 1 1 1 -1]));
%! ok (realmax * [1 -1 1 1 -1 1 -1 -1 1 1 1 -1] / 2, 1.5);
%! assert (DerivativeConstantMemory_CUDA ([-1e308 0 1e308])(2), Inf);
%! assert (DerivativeConstantMemory_CUDA (single ([-3e38 0 3e38]))(2), single (Inf));

## --- Coefficients --------------------------------------------------------------------

%!test # from either memory the same bits
%! for type = {"double", "single"}
%!   for n = [0 1 8 9 100 1000 100003]
%!     x = cast (noise (n, 1, n), type{1});
%!     a = DerivativeConstantMemory_CUDA (x, 0.3, "Coefficients", "constant");
%!     b = DerivativeConstantMemory_CUDA (x, 0.3, "Coefficients", "readonly");
%!     [yes, why] = same_bits (a, b);
%!     assert (yes, "%s, %d points: %s", type{1}, n, why);
%!   endfor
%!   x = cast (noise (1, 40, 30), type{1});
%!   ok (x, 0.3, "Coefficients", "readonly");
%!   ok (x, "Coefficients", "readonly");
%!   ## Other coefficients right after: none of the old are left.
%!   ok (x, 0.7, "Coefficients", "readonly");
%!   ok (x, 0.7);
%!   ok (x, 0.2, "Coefficients", "constant");
%! endfor

%!test # names and values in any case, names shortened
%! x = noise (1, 1, 30);
%! for name = {"Coefficients", "coefficients", "COEFF", "c", "Co"}
%!   for value = {"constant", "CONSTANT", "readonly", "ReadOnly"}
%!     ok (x, 0.3, name{1}, value{1});
%!     ok (x, name{1}, value{1}, "Backend", "cpu");
%!   endfor
%! endfor
%! for value = {"const", "read-only", "ReadOnly ", "", "ldg", 1, true, [], {"constant"}, @sin}
%!   fails (f, "option", {x, 1, "Coefficients", value{1}});
%!   fails (f, "option", {x, "Coefficients", value{1}});
%! endfor
%! ## The last of several is taken; each is looked at.
%! ok (x, "Coefficients", "readonly", "Coefficients", "constant");
%! fails (f, "option", {x, "Coefficients", "none", "Coefficients", "constant"});

## --- Nothing is written that is not the output ---------------------------------------

%!test # the input and all that shares its memory
%! for type = {"double", "single"}
%!   x = cast (noise (1, 1, 5000), type{1});
%!   keep = typecast (x, "uint8");
%!   alias = x;
%!   boxed = {x};
%!   part = x(1001:2000);
%!   d = DerivativeConstantMemory_CUDA (x, 0.3);
%!   d = DerivativeConstantMemory_CUDA (part);
%!   assert (typecast (x, "uint8"), keep);
%!   assert (typecast (alias, "uint8"), keep);
%!   assert (typecast (boxed{1}, "uint8"), keep);
%!   want = fma_derivative (x);
%!   x = DerivativeConstantMemory_CUDA (x);
%!   assert (same_bits (x, want));
%!   assert (typecast (alias, "uint8"), keep);
%! endfor

%!test # the same for large arrays, which may take another way out
%! for type = {"double", "single"}
%!   n = 3000000;
%!   x = cast (mod (1:n, 1013), type{1});
%!   d = DerivativeConstantMemory_CUDA (x, 0.5);
%!   assert (isequal (x, cast (mod (1:n, 1013), type{1})));
%!   e = d;
%!   e([1 end]) = -1;
%!   assert (same_bits (d(1:1000), DerivativeConstantMemory_CUDA (x(1:1004), 0.5)(1:1000)));
%!   assert (same_bits (d(end-999:end), DerivativeConstantMemory_CUDA (x(end-1003:end), 0.5)(5:end)));
%!   x = DerivativeConstantMemory_CUDA (x, 0.5);
%!   assert (isequal (x, d));
%! endfor

## --- Errors: what is its own -----------------------------------------------------------

%!error id=DerivativeConstantMemory:numberOfInputs DerivativeConstantMemory_CUDA ()
%!error id=DerivativeConstantMemory:numberOfOutputs [a, b] = DerivativeConstantMemory_CUDA (1:9, 1);
%!error id=DerivativeConstantMemory:dataType DerivativeConstantMemory_CUDA (int8 (1:9))
%!error id=DerivativeConstantMemory:spacing DerivativeConstantMemory_CUDA (1:9, 0)
%!error id=DerivativeConstantMemory:option DerivativeConstantMemory_CUDA (1:9, "Colour", 1)

%!test # numbers of inputs: h may be left out, but nothing comes between it and the options
%! fails (f, "numberOfInputs", {});
%! fails (f, "numberOfInputs", {}, 0);
%! fails (f, "numberOfInputs", {1:9, 1, 2});
%! fails (f, "numberOfInputs", {1:9, 1, 2, 3});
%! fails (f, "numberOfInputs", {1:9, "Backend", "cpu", 1});
%! fails (f, "numberOfInputs", {1:9, "Backend", "cpu", 1, "cpu"});
%! fails (f, "numberOfInputs", {1:9, "Backend"});
%! fails (f, "numberOfInputs", {1:9, "0.5"});
%! fails (f, "numberOfInputs", {1:9, 1, "Backend"});

%!test # f of every class but double and single, and sparse
%! [~, no_floats] = no_real_floats ();
%! for v = no_floats
%!   fails (f, "dataType", {v{1}});
%!   fails (f, "dataType", {v{1}, 0.5});
%! endfor

%!test # h that is no real number at all; a text is the name of an option
%! for h = {true, false, sparse(1), 1i, complex(1, 0), single(1i), {1}, {}, struct(), @sin, ...
%!          ["ab"; "cd"], true(1, 2), sparse(true)}
%!   fails (f, "dataType", {1:9, h{1}});
%!   fails (f, "dataType", {single(1:9), h{1}, "Backend", "cpu"});
%! endfor

%!test # h that is a number, but no distance
%! for h = {0, -0, -1, -eps, NaN, Inf, -Inf, [1 2], [1; 1], [], zeros(1, 0), zeros(0, 3), ones(2, 2, 2), ...
%!          single(0), single(-1), single(NaN), single(Inf), single([]), int8(0), int8(-1), uint8(0), ...
%!          int32([1 2]), -2 ^ -1074, int64([])}
%!   fails (f, "spacing", {1:9, h{1}});
%!   fails (f, "spacing", {single(1:9), h{1}});
%!   fails (f, "spacing", {[], h{1}});
%!   fails (f, "spacing", {1:9, h{1}, "Backend", "cpu"});
%! endfor

%!test # a prefix that two names share; names of options that others have
%! for name = {"B", "b", "D", "d", "Iterations", "Progress", "I", "p"}
%!   fails (f, "option", {1:9, name{1}, 1});
%!   fails (f, "option", {1:9, 0.5, name{1}, 1});
%! endfor

%!test # which error comes first where several are due
%! x = 1:9;
%! wrong = int8 (1);
%! chain = {
%!   ## arguments                                    outputs  identifier
%!   {},                                                   2, "numberOfInputs"
%!   {wrong, 0, 7},                                        2, "numberOfInputs"
%!   {x, 0, "Colour"},                                     2, "numberOfInputs"
%!   {wrong, "Backend"},                                   2, "numberOfInputs"
%!   {wrong, 0},                                           2, "numberOfOutputs"
%!   {x, true, "Colour", 1},                               2, "numberOfOutputs"
%!   {x, "Colour", 1},                                     2, "numberOfOutputs"
%!   {wrong, 0, "Colour", 1},                              1, "dataType"
%!   {wrong, "Colour", 1},                                 1, "dataType"
%!   {x, true, "Colour", 1},                               1, "dataType"
%!   {x, sparse(0)},                                       1, "dataType"
%!   {x, 0, "Colour", 1},                                  1, "spacing"
%!   {x, [], "Backend", "cuda", "Device", 99},             1, "spacing"
%!   {x, 1, "Device", 99, "Colour", 1},                    1, "option"
%!   {x, "Device", 99, "Coefficients", 1},                 1, "option"
%!   {[], "Colour", 1},                                    1, "option"
%!   {[], 1, "Backend", "auto", "Device", 99},             1, "noDevice"
%!   };
%! for i = 1:rows (chain)
%!   fails (f, chain{i,3}, chain{i,1}, chain{i,2});
%! endfor

%!test # the texts say what was got
%! x = 1:9;
%! cases = {
%!   {},                              "0"
%!   {int8(x)},                       "int8"
%!   {int8(x)},                       "f is"
%!   {int8(x)},                       "double (f)"
%!   {sparse(x)},                     "full (f)"
%!   {x, true},                       "logical"
%!   {x, true},                       "h is"
%!   {x, -2.5},                       "-2.5"
%!   {x, NaN},                        "NaN"
%!   {x, -Inf},                       "-Inf"
%!   {x, [1 2 3]},                    "1x3"
%!   {x, "Colour", 1},                "Colour"
%!   {x, "Colour", 1},                "Coefficients"
%!   {x, "Coefficients", "texture"},  "texture"
%!   {x, "Coefficients", "texture"},  "readonly"
%!   {x, "B", "cpu"},                 "Boundary"
%!   };
%! for i = 1:rows (cases)
%!   text = "";
%!   try
%!     DerivativeConstantMemory_CUDA (cases{i,1}{:});
%!   catch err
%!     text = err.message;
%!   end_try_catch
%!   assert (! isempty (strfind (text, cases{i,2})), ...
%!           "nothing of <%s> in <%s>", cases{i,2}, text);
%! endfor
