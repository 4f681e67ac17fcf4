## DeviceArray: exp, sin, powers and related functions, compared with the host's own: within two units in the last
## place, and exact where the result is known. tests/checks/functions.rs measures the errors themselves.

%!shared unary, binary
%! unary = {@exp, @expm1, @log, @log2, @log10, @log1p, @sin, @cos, @tan, @asin, @acos, @atan, @sinh, @cosh, @tanh, ...
%!          @asinh, @acosh, @atanh, @cbrt, @erf, @erfc};
%! binary = {@atan2, @hypot, @power};

## Returns the host's result, with NaN for complex elements.
%!function y = real_part (y)
%!  if (iscomplex (y))
%!    y(imag (y) != 0) = NaN;
%!    y = real (y);
%!  endif
%!endfunction

## Raises unless both are of one class and size, NaN and infinite in the same places with the same signs, and else
## within this number of units in the last place.
%!function near (got, want, what, units = 2)
%!  assert (strcmp (class (got), class (want)) && size_equal (got, want), "%s: %s %s, not %s %s", what, class (got), ...
%!          mat2str (size (got)), class (want), mat2str (size (want)));
%!  usual = isfinite (want);
%!  assert (isequaln (got(! usual), want(! usual)), "%s: other infinities or NaN", what);
%!  assert (isequal (signbit (got(want == 0)) != 0, signbit (want(want == 0)) != 0), "%s: other signs of zeros", what);
%!  off = abs (double (got(usual)) - double (want(usual))) ./ double (eps (want(usual)));
%!  assert (isempty (off) || max (off) <= units, "%s: %g units off", what, max (off(:)));
%!endfunction

%!test # of one array, in double and single
%! x = [linspace(-30, 30, 401), linspace(-1, 1, 201), 10 .^ (-40:2:30), -10 .^ (-40:2:30)];
%! for f = unary
%!   for c = {@double, @single}
%!     near (gather (f{1} (DeviceArray (c{1} (x)))), real_part (f{1} (c{1} (x))), [func2str(f{1}) " " func2str(c{1})], ...
%!           2 + 2 * isequal (f{1}, @cbrt));  # the host's is three off
%!   endfor
%! endfor

%!test # what is next to the largest numbers, and to none
%! x = [709.78 710 -745 -746 1e-310 -1e-310 5e-324 realmax realmin 1e300 1e22 -1e22 2^60];
%! for f = unary
%!   near (gather (f{1} (DeviceArray (x))), real_part (f{1} (x)), func2str (f{1}));
%! endfor

%!test # zeros, infinities and NaN are the host's
%! special = [0 -0 Inf -Inf NaN];
%! for f = unary
%!   for c = {@double, @single}
%!     near (gather (f{1} (DeviceArray (c{1} (special)))), real_part (f{1} (c{1} (special))), func2str (f{1}), 0.5);
%!   endfor
%! endfor

%!test # exact results
%! assert (gather (log2 (DeviceArray (2 .^ (-1074:1023)))), -1074:1023);
%! assert (gather (log10 (DeviceArray (10 .^ (0:22)))), 0:22);
%! assert (gather (exp (DeviceArray ([0 -0 Inf -Inf]))), [1 1 Inf 0]);
%! assert (gather (acos (DeviceArray ([1 -1 0]))), [0 pi pi/2]);
%! assert (gather (hypot (DeviceArray ([3 5 1e300 Inf]), [4 12 0 NaN])), [5 13 1e300 Inf]);
%! assert (gather (DeviceArray ([2 3 -2 10 4]) .^ [10 5 3 15 -0.5]), [1024 243 -8 1e15 0.5]);

%!test # sines and cosines of multiples of pi
%! x = [-9:0.25:9, 1e-3, 2^51 + 0.5, 2^53 - 1, 1e300];
%! turns = rem (abs (x), 2);
%! [s, c] = deal (gather (sinpi (DeviceArray (x))), gather (cospi (DeviceArray (x))));
%! whole = x == fix (x);
%! assert (s(whole), zeros (1, nnz (whole)));
%! assert (signbit (s(whole)) != 0, x(whole) < 0);
%! assert (c(whole), 1 - 2 * (turns(whole) == 1));
%! halves = rem (turns, 1) == 0.5;
%! assert (any (signbit (c(halves)) | c(halves)), false);
%! assert (s(halves), sign (x(halves)) .* (2 - 2 * turns(halves)));
%! near (s(! whole), sign (x(! whole)) .* sin (pi * turns(! whole)), "sinpi", 8);
%! assert (c(1:end-2), gather (sinpi (DeviceArray (abs (x(1:end-2)) + 0.5))), 2 * eps);
%! assert (isnan (gather (sinpi (DeviceArray ([Inf -Inf NaN])))), true (1, 3));
%! assert (isnan (gather (cospi (DeviceArray ([Inf -Inf NaN])))), true (1, 3));
%! for f = {@sinpi, @cospi}
%!   want = single (gather (f{1} (DeviceArray (double (single (x))))));
%!   assert (same_bits (gather (f{1} (DeviceArray (single (x)))), want));
%! endfor

%!test # roots
%! x = [0 -0 1 -1 2 -32 1e300 -1e-300 Inf -Inf NaN 0.3 7];
%! for n = [3 -3 5 7 -5 15]
%!   near (gather (nthroot (DeviceArray (x), n)), nthroot (x, n), sprintf ("root %d", n));
%!   near (gather (nthroot (DeviceArray (single (x)), n)), nthroot (single (x), n), sprintf ("root %d of singles", n));
%! endfor
%! for n = [1 2 4 -2 2.5]
%!   near (gather (nthroot (DeviceArray (abs (x)), n)), nthroot (abs (x), n), sprintf ("root %g", n));
%! endfor
%! assert (gather (nthroot (DeviceArray ([-4 16]), 4)), [NaN 2]);
%! assert (same_bits (gather (nthroot (DeviceArray (x), 3)), gather (cbrt (DeviceArray (x)))));
%! for n = {0, [1 2], 1i, "a"}
%!   refused (@() nthroot (DeviceArray (x), n{1}), "option", "a number that is not 0");
%! endfor
%! refused (@() nthroot (DeviceArray (x)), "numberOfInputs", "nthroot (U, N)");

%!test # in steps, with the bits of calls
%! step = @(u) erfc (u) + erf (u .* 0.5) + cbrt (u) + asinh (u) + acosh (abs (u) + 1) + atanh (u / 10) + sinpi (u) ...
%!             + cospi (u) + nthroot (u, 3) + nthroot (u, 5);
%! for c = {@double, @single}
%!   u = DeviceArray (c{1} (linspace (-3, 3, 500)));
%!   assert (same_bits (gather (DeviceArray.iterate (step, 1, u)), gather (step (u))), "%s", func2str (c{1}));
%! endfor

%!test # beyond a function's domain lies NaN, where the host is complex
%! u = DeviceArray ([-2 0.5]);
%! for f = {@log, @log2, @log10, @log1p, @asin, @acos, @atanh, @(a) a .^ 0.5}
%!   assert (isequal (isnan (gather (f{1} (u))), [true false]), "%s", func2str (f{1}));
%! endfor
%! assert (gather (acosh (DeviceArray ([-2 0.5 1]))), [NaN NaN 0]);
%! assert (gather ((-8) .^ DeviceArray ([1/3 2 3])), [NaN 64 -512]);

%!test # every class: integers and truth values become double
%! for c = array_classes ()
%!   x = c{1} ([0 1 2 3; 100 50 7 1]);
%!   for f = unary
%!     near (gather (f{1} (DeviceArray (x))), real_part (f{1} (x)), [func2str(f{1}) " of " class(x)]);
%!   endfor
%! endfor

%!test # results of one element are ordinary numbers, sizes stay
%! for f = unary
%!   y = f{1} (DeviceArray (0.5));
%!   assert (isa (y, "double"), "%s", func2str (f{1}));
%!   near (y, real_part (f{1} (0.5)), func2str (f{1}));
%!   for s = {[], zeros(0, 3), ones(2, 3, 4) / 3, [1; 2; 3] / 4}
%!     y = f{1} (DeviceArray (s{1}));
%!     assert (isa (y, "DeviceArray"));
%!     near (gather (y), real_part (f{1} (s{1})), func2str (f{1}));
%!   endfor
%! endfor

## Either operand on the device, or both.
%!function beside_host (f, a, b, units = 2)
%!  want = real_part (f (a, b));
%!  sides = {DeviceArray(a), b; a, DeviceArray(b); DeviceArray(a), DeviceArray(b)};
%!  for i = 1:3
%!    near (gather (f (sides{i,:})), want, sprintf ("%s, %d, of %s and %s", func2str (f), i, class (a), class (b)), units);
%!  endfor
%!endfunction

%!test # of two arrays, which expand
%! x = [linspace(-7, 7, 51); linspace(-1, 1, 51)];
%! beside_host (@atan2, x, x(:,end:-1:1));
%! for f = binary
%!   beside_host (f{1}, abs (x), x(:,end:-1:1));
%!   beside_host (f{1}, abs (x), 0.3);
%!   beside_host (f{1}, 0.7, x);
%!   beside_host (f{1}, abs (x), [0.5; 1.5]);
%!   beside_host (f{1}, 1:3, [0.1; 2.5; 4]);
%!   beside_host (f{1}, single (abs (x)), x);
%!   beside_host (f{1}, abs (x), single (1.7));
%!   beside_host (f{1}, reshape (1:8, 2, 2, 2), [1.5; 2.5]);
%!   beside_host (f{1}, zeros (0, 3), [1 2 3]);
%! endfor
%! refused (@() atan2 (DeviceArray (1:3), 1:2), "size", "nonconformant");
%! refused (@() hypot (DeviceArray (1:3), 1:2), "size", "nonconformant");
%! refused (@() DeviceArray (1:3) .^ (1:2), "size", "nonconformant");

%!test # signed zeros and infinities of two
%! special = [0 -0 1 -1 Inf -Inf NaN 2.5 -3];
%! [a, b] = meshgrid (special);
%! beside_host (@atan2, a, b, 0.5);
%! beside_host (@hypot, a, b, 0.5);
%! ## The host makes a whole array complex if one element is: computes each by itself. The results are those of C, not
%! ## of a complex pow.
%! beside_host (@power, abs (a), b, 0.5);
%! assert (gather ([-1 -2 -0.5 -Inf -Inf] .^ DeviceArray ([Inf -Inf Inf 3 0.5])), [1 0 0 -Inf NaN]);

%!test # whole powers beyond 16, and those that are no whole numbers
%! x = [0.1 0.5 1 1.5 3 7];
%! for k = {17, -17, 100, 0.5, -0.5, 1/3, 2.5, Inf, -Inf, NaN, [1 2 3 4 5 6], single(0.5), 2^53}
%!   beside_host (@power, x, k{1});
%! endfor
%! beside_host (@power, -x, [3 17 4 -5 0 21]);

%!test # a whole scalar power is made of products, and so is none else
%! x = rand (1, 100) + 0.5;
%! cube = (x .* x) .* x;
%! assert (same_bits (gather (DeviceArray (x) .^ 3), cube));
%! assert (same_bits (gather (DeviceArray (x) .^ -3), 1 ./ cube));

%!test # powers of integers saturate, and go with double alone
%! for c = {@int8, @uint8, @int16, @int32, @uint32}
%!   x = c{1} ([0 1 2 3 100]);
%!   for k = {0.5, 2, 20, -1, [1 2 3 0.5 1]}
%!     want = x .^ k{1};
%!     assert (gather (DeviceArray (x) .^ k{1}), want);
%!     assert (gather (x .^ DeviceArray ([k{1} k{1}](ones (1, 5)))), x .^ k{1}(1));
%!   endfor
%!   assert (gather (2.5 .^ DeviceArray (x)), 2.5 .^ x);
%!   assert (gather (DeviceArray ([2 -3]) .^ c{1} (3)), [2 -3] .^ c{1} (3));
%! endfor
%! refused (@() DeviceArray (int8 ([1 2])) .^ int16 ([1 2]), "dataType", ".^");

%!test # classes of functions of the plane, as the host's, which take no truth values
%! for f = {@atan2, @hypot}
%!   for c = {@double, @single, @int8, @uint8, @int32}
%!     for d = {@double, @single, @int8, @uint32}
%!       beside_host (f{1}, c{1} ([1 2 3]), d{1} ([3 0 1]));
%!     endfor
%!   endfor
%!   refused (@() f{1} (DeviceArray ([true false]), 1), "dataType", "wrong type argument");
%!   refused (@() f{1} (1:2, DeviceArray ([true false])), "dataType", "wrong type argument");
%!   refused (@() f{1} (DeviceArray (1:2), {1}), "dataType", "");
%! endfor

%!test # long arrays, in pieces
%! x = rand (1, 70001) * 20 - 10;
%! for f = {@exp, @sin, @atan, @tanh}
%!   near (gather (f{1} (DeviceArray (x))), f{1} (x), func2str (f{1}));
%! endfor
%! x(1:7:end) *= 1e200;
%! near (gather (cos (DeviceArray (x))), cos (x), "cos of huge angles");
%! near (gather (DeviceArray (abs (x)) .^ 0.7), abs (x) .^ 0.7, "powers");

%!test # an array of one name keeps its values
%! x = [0.1 0.2 0.3];
%! u = DeviceArray (x);
%! v = exp (u);
%! v(1) = 0;
%! assert (gather (u), x);
