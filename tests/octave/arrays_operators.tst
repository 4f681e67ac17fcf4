## DeviceArray: operators and functions of each element, compared with ordinary
## arrays: values, sizes and classes.

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

## --- One operand ------------------------------------------------------------------

%!test # one operand, in every class
%! functions = {@(a) -a, @(a) +a, @abs, @isnan, @isinf, @isfinite, @(a) sqrt(abs (a)), @real, @imag, @conj};
%! for s = array_samples (true)
%!   for f = functions
%!     if (takes ("one operand", class (s{1}), f, s))
%!       alike (f{1}, s);
%!     endif
%!   endfor
%!   if (! any (isnan (s{1}(:))))
%!     alike (@(a) ! a, s);
%!   endif
%! endfor

%!test # rounding and signs, in every class
%! special = [0.5 -0.5 1.5 -1.5 2.5 -2.5 0.49999999999999994 -0.49999999999999994 4503599627370497.5 1e300 -1e300 ...
%!            9007199254740993 -0 0 Inf -Inf NaN 8388609.5];
%! for f = {@floor, @ceil, @round, @fix, @sign}
%!   for s = array_samples (true)
%!     if (takes ("rounding", {f{1}, class(s{1})}, s))
%!       alike (f{1}, s);
%!     endif
%!   endfor
%!   alike (f{1}, {special});
%!   alike (f{1}, {single(special)});
%! endfor

%!test # square roots of negative numbers are NaN
%! assert (isnan (sqrt (DeviceArray (-1))));
%! assert (gather (sqrt (DeviceArray ([4 -4 9]))), [2 NaN 3]);

%!test # whole powers
%! a = [1 2 -2 0.5 0; -0.25 1 4 8 -1];
%! for k = -16:16
%!   alike (@(a) a .^ k, {a});
%! endfor
%! for c = array_classes ()
%!   for k = {0, 1, 2, 3, single(2), true, 5}
%!     alike (@(a) a .^ k{1}, {c{1}(x)});
%!   endfor
%! endfor
%! alike (@(a) a .^ single (2), {x});
%! alike (@(a) a .^ 2, {single(3)});
%! alike (@(a) a .^ 2, {zeros(0, 3)});

%!test # powers of matrices are not there
%! refused (@() u ^ 2, "unsupported");
%! refused (@() 2 ^ u, "unsupported");

## --- Two operands -----------------------------------------------------------------

%!test # of every class with every class
%! operators = {@plus, @minus, @times, @rdivide, @ldivide, @eq, @ne, @lt, @le, @gt, @ge, @and, @or, @max, @min};
%! for c = array_classes ()
%!   for d = array_classes ()
%!     for f = operators
%!       ## The host has no & and | of two classes of integers.
%!       if (! takes ("two operands", f, {c, d})
%!           || any (strcmp (func2str (f{1}), {"and", "or"})) && isinteger (c{1}(1)) && isinteger (d{1}(1)))
%!         continue
%!       endif
%!       alike (f{1}, {c{1}([3 -1 4; 1 -5 100]), d{1}([0 2.5 0; 1 -60 120])});
%!       alike (f{1}, {c{1}([1 -2 100]), d{1}(3)});
%!       alike (f{1}, {c{1}(-2), d{1}(7)});
%!     endfor
%!   endfor
%! endfor

%!test # sizes expand, or do not go together
%! x = [3 -1 4; 1 -5 9];
%! sizes = {{x, x + 1}, {x, 2}, {3, x}, {[1 2 3], [1; 2]}, {x, [1; 2]}, {[1 2 3], x}, {zeros(0, 3), [1 2 3]}, {[], 1}, {[], []}, ...
%!          {reshape(1:6, 1, 2, 3), [1; 2]}, {0, 0}, {zeros(0, 3), ones(2, 3)}, {zeros(2, 0), [1; 2]}, {zeros(0, 3), zeros(3, 0)}, ...
%!          {zeros(0, 1), zeros(1, 0)}, {reshape(1:8, 2, 2, 2), [1 2; 3 4]}, {reshape(1:8, 2, 2, 2), reshape([1 2], 1, 1, 2)}, ...
%!          {ones(2, 1, 3), ones(1, 4)}, {x, [1 2]}, {1:3, 1:4}, {ones(2, 2, 2), ones(2, 2, 3)}};
%! for s = sizes
%!   for f = {@plus, @times, @rdivide, @lt, @and, @max, @min}
%!     if (takes ("sizes", s, f))
%!       alike (f{1}, s{1});
%!     endif
%!   endfor
%! endfor

%!test # numbers that are none, and signed zeros
%! a = [1 NaN 3 -Inf Inf 0 -0 0 NaN];
%! b = [NaN 1 3 Inf Inf -0 0 NaN NaN];
%! for f = {@plus, @minus, @times, @rdivide, @ldivide, @eq, @ne, @lt, @le, @gt, @ge, @max, @min}
%!   for c = {@double, @single}
%!     if (! takes ("no numbers", f, c))
%!       continue
%!     endif
%!     alike (f{1}, {c{1}(a), c{1}(b)});
%!     alike (f{1}, {c{1}(a), 0});
%!     alike (f{1}, {NaN, c{1}(b)});
%!   endfor
%! endfor

%!test # NaN is no zero: the host has an error, which would have to wait for the device
%! for f = {@and, @or}
%!   assert (gather (f{1} (DeviceArray ([1 NaN]), [1 1])), [true true]);
%! endfor
%! assert (gather (xor (DeviceArray ([1 NaN]), [1 0])), [false true]);

%!function a = with_first (a, value)
%!  a(1) = value;
%!endfunction

%!test # zeros of integers have no sign
%! for c = array_classes ()(4:end)
%!   alike (@(a) 1 ./ (-a), {c{1}([0 1])});
%!   alike (@(a) 1 ./ (a * -0.3), {c{1}([0 1])});
%!   alike (@(a) a .^ -1, {c{1}([0 1])});
%!   alike (@(a) 1 ./ double (a .* -1), {c{1}([0 1])});
%!   alike (@(a) 1 ./ [a, -0.2], {c{1}([0 1])});
%!   alike (@(a) 1 ./ with_first (a, -0.2), {c{1}([1 1])});
%!   assert (same_bits (gather (1 ./ c{1} (DeviceArray ([-0.2 -0]))), 1 ./ c{1} ([-0.2 -0])));
%! endfor

%!test # integers saturate and round as the host's
%! for c = array_classes ()(4:end)
%!   limits = c{1} ([-Inf Inf 0 1 -1 7 -7 100]);
%!   for other = {limits, c{1}(3), 0.5, -2.5, 0, 1e300, NaN, single(0.3), -Inf, true}
%!     for f = {@plus, @minus, @times, @rdivide, @ldivide, @max, @min, @eq, @lt, @ge, @and, @or}
%!       if (takes ("saturate", f, c, other) && ! (isnan (other{1}(1)) && any (strcmp (func2str (f{1}), {"and", "or"}))))
%!         alike (f{1}, {limits, other{1}});
%!       endif
%!     endfor
%!   endfor
%! endfor

%!test # truth values
%! t = x > 2;
%! alike (@(a) a > 2, {x});
%! for f = {@(a, b) a + b, @(a, b) a & b, @(a, b) a | b, @xor, @(a, b) a == b, @(a, b) a .* b, @(a, b) a - b, @(a, b) a < b}
%!   alike (f{1}, {t, ! t});
%!   alike (f{1}, {t, x});
%!   alike (f{1}, {t, true});
%! endfor
%! alike (@(a) ! a, {t});
%! alike (@(a) a + 0.1, {t});
%! alike (@(a, b) a .* (b > 0), {x, x});
%! alike (@(a) -(a > 1), {single(x)});
%! alike (@(a) (a > 1) * 0.1, {single(x)});

%!test # exclusive or
%! alike (@xor, {[0 1 2 0], [0 0 3 -0.5]});
%! alike (@xor, {single([0; 1]), [0 5]});
%! alike (@xor, {int8([0 3]), true});
%! alike (@xor, {x, 0});

## Octave itself crashes if its MOD gets a foreign integer.
%!test # mod and rem of integers end no process
%! [status, out] = run_octave ({"for c = {@int8, @uint8, @int32}, for f = {@mod, @rem}"
%!                              "  u = DeviceArray (c{1} ([7 0]));"
%!                              "  for inputs = {{u, u}, {u, 3}, {5, u}, {u, c{1}([4 3])}, {c{1}([4 3]), u}}"
%!                              "    try, f{1} (inputs{1}{:}); catch, end"
%!                              "  end, end, end, disp ('done')"});
%! assert (status == 0, "%s", out);
%! assert (strtrim (strrep (out, exit_noise (), "")), "done");

%!test # mod and rem
%! a = [5 -5 5.5 -5.5 0 -0 NaN Inf 1e17 -3];
%! b = [3 3 -2 -2 4 0 2 3 7 0];
%! for f = {@mod, @rem}
%!   alike (f{1}, {a, b});
%!   alike (f{1}, {a, 3});
%!   alike (f{1}, {7, b});
%!   alike (f{1}, {single(a), single(b)});
%!   alike (f{1}, {a, 0});
%!   alike (f{1}, {x, [2; 3]});
%!   ## The host has no remainders of truth values.
%!   for c = array_classes ()([1 2 4:end])
%!     alike (f{1}, {c{1}([7 0 100]), c{1}([4 3 0])});
%!     alike (f{1}, {c{1}([7 0 100]), 3});
%!   endfor
%! endfor

## --- Choices by a mask ------------------------------------------------------------

%!shared mask
%! mask = [true false true; false false true];

%!test # merge in every class; of two classes it is an error
%! x = [3 -1 4; 1 -5 9];
%! for c = array_classes ()
%!   for d = array_classes ()
%!     ## The host has no choice of truth values.
%!     if (takes ("merge", c, d) && ! (islogical (c{1}(1)) && islogical (d{1}(1))))
%!       alike (@merge, {mask, c{1}(x), d{1}(0)});
%!     endif
%!   endfor
%!   if (! islogical (c{1}(1)))
%!     alike (@merge, {mask, c{1}(x), c{1}(100 - x)});
%!     alike (@merge, {mask, c{1}(1), c{1}(x)});
%!     alike (@merge, {mask, c{1}(1), c{1}(7)});
%!   endif
%! endfor
%! t = DeviceArray (x > 2);
%! for other = {! mask, true, false}
%!   for c = {gather(merge (mask, t, other{1})), gather(merge (mask, DeviceArray (other{1}), t)), gather(merge (t, mask, other{1}))}
%!     assert (islogical (c{1}) && isequal (size (c{1}), size (x)));
%!   endfor
%!   assert (gather (merge (mask, t, other{1})), (mask & (x > 2)) | (! mask & other{1}));
%!   assert (gather (merge (DeviceArray (single (x)) > 2, other{1}, t)), (x > 2 & other{1}) | (! (x > 2) & (x > 2)));
%! endfor

%!test # nothing of what is not chosen, and zeros with their signs
%! special = [NaN Inf -Inf 0 -0 1e-310 1e-40 -3 realmax];
%! [a, b] = meshgrid (special);
%! for c = {@double, @single}
%!   for m = {a > 0, ! (a > 0), true(size (a)), false(size (a)), a == b}
%!     alike (@merge, {m{1}, c{1}(a), c{1}(b)});
%!   endfor
%!   for s = special
%!     alike (@merge, {a > 0, c{1}(s), c{1}(b)});
%!     alike (@merge, {a > 0, c{1}(b), c{1}(s)});
%!     alike (@merge, {a > 0, c{1}(-0), c{1}(s)});
%!   endfor
%! endfor

%!test # sizes of merge: one, or one element
%! some = @(varargin) reshape (1:prod ([varargin{:}]), varargin{:});
%! for s = {{mask, some(2, 3), some(3, 2)}, {mask, some(1, 3), 5}, {mask, 5, some(2, 1)}, {mask, some(2, 3, 2), 5}, {mask, [], 5}, ...
%!          {false(0, 3), 1, 2}, {false(0, 3), zeros(0, 3), 2}, {false(0, 3), zeros(3, 0), 2}, {logical([]), [], []}, {logical([]), 1, 2}, ...
%!          {logical([]), zeros(0, 3), 1}, {mask(:), some(6, 1), some(6, 1)}, {mask(:), some(6, 1), some(1, 6)}, ...
%!          {some(2, 3, 4) > 11, some(2, 3, 4), -some(2, 3, 4)}, {some(2, 3, 4) > 11, -1, some(2, 3, 4)}, {mask(:,1), some(2, 3), 1}}
%!   alike (@merge, s{1});
%! endfor
%! n = 70001;
%! alike (@merge, {mod(1:n, 7) > 2, 1:n, -(1:n)});

%!test # a mask of one element chooses all of one
%! x = [3 -1 4; 1 -5 9];
%! for m = [true false]
%!   for s = {{x, -x}, {x, 5}, {5, x}, {x, single([1 2])}, {int8(4), x}, {[], x}, {x, zeros(0, 3)}, {5, 6}, {5, single(6)}, {x > 2, x}}
%!     alike (@merge, [{m}, s{1}], false, [2 3]);
%!   endfor
%! endfor
%! u = DeviceArray (x);
%! assert (merge (true, [1 2 3], u), [1 2 3]);
%! assert (merge (DeviceArray (false), 1, "text"), "text");

%!test # what merge refuses
%! u = DeviceArray ([3 -1 4; 1 -5 9]);
%! refused (@() merge (u, u, u), "dataType", "logical");
%! refused (@() merge (5, u, u), "dataType", "logical");
%! refused (@() merge (int8 (mask), u, u), "dataType", "logical");
%! refused (@() merge (mask, u, single (1)), "dataType", "cannot merge double with single");
%! refused (@() merge (mask, u, mask), "dataType", "cannot merge");
%! refused (@() merge (mask, u, [1 2 3]), "size", "nonconformant");
%! refused (@() merge (mask', u, 1), "size", "nonconformant");
%! for bad = {int64(1), 1i, sparse(1), "abc", int64([1 2 3; 4 5 6])}
%!   refused (@() merge (mask, u, bad{1}), "dataType", class (bad{1}));
%!   refused (@() merge (mask, bad{1}, u), "dataType", class (bad{1}));
%! endfor
%! fail ("merge (mask, u, {1})", "gather|DeviceArray");
%! fail ("merge (mask, u)");

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

## --- Products and quotients with a number -----------------------------------------

%!test # a number times an array
%! for c = array_classes ()
%!   for k = {2, single(2), 0.5, true}
%!     for f = {@(a, b) a * b, @(a, b) b * a, @(a, b) a / b, @(a, b) b \ a}
%!       if (takes ("a number", {c, f}, k))
%!         alike (f{1}, {c{1}(x), k{1}});
%!       endif
%!     endfor
%!   endfor
%! endfor
%! alike (@(a, b) a * b, {4, [1 2 3]});
%! alike (@(a, b) a * b, {[], 3});

%!test # products of matrices are not there
%! refused (@() u * u, "unsupported");
%! refused (@() u * [1; 2; 3], "unsupported");
%! refused (@() [1 2] * u, "unsupported");
%! refused (@() u / u, "unsupported");
%! refused (@() 2 / u, "unsupported");
%! refused (@() u \ u, "unsupported");
%! refused (@() u \ 2, "unsupported");

## --- Assignments with an operator -------------------------------------------------

%!test # operators that assign
%! v = u;
%! v += 1;
%! v *= 2;
%! v .*= v;
%! v -= u;
%! v |= 0;
%! assert (gather (v), ((x + 1) * 2) .^ 2 - x | 0);
%! assert (gather (u), x);

%!testif ; own_type ()  # of an object Octave asks nobody for ++
%! v = u;
%! v++;
%! ++v;
%! v--;
%! assert (gather (v), x + 1);
%! assert (gather (u), x);

## --- Operands of other kinds ------------------------------------------------------

%!test # what is no operand
%! for f = {@plus, @minus, @times, @rdivide, @min, @max, @eq, @lt, @and, @or}
%!   for bad = {int64(1), uint64(1), 1i, single(1i), sparse(1), "abc", [1i 2 3; 4 5 6], int64([1 2 3; 4 5 6])}
%!     refused (@() f{1} (u, bad{1}), "dataType", class (bad{1}));
%!     refused (@() f{1} (bad{1}, u), "dataType", class (bad{1}));
%!   endfor
%!   for bad = {{1}, struct(), @sin}
%!     fail ("f{1} (u, bad{1})", "gather|DeviceArray");
%!     fail ("f{1} (bad{1}, u)", "gather|DeviceArray");
%!   endfor
%! endfor
%! for f = {@(a, b) a * b, @(a, b) a / b, @(a, b) a .^ b}
%!   for bad = {1i, sparse(2), int64(2)}
%!     refused (@() f{1} (u, bad{1}), "", "");
%!   endfor
%!   ## For the class the host asks a verb, whose error lists what it takes.
%!   fail ("f{1} (u, {1})", {"gather|DeviceArray_CUDA", "gather"}{1 + own_type ()});
%! endfor

%!test # diagonal matrices, permutations and ranges stand for arrays
%! square = DeviceArray (magic (3));
%! assert (gather (square + eye (3)), magic (3) + eye (3));
%! assert (gather (eye (3) .* square), eye (3) .* magic (3));
%! [~, ~, p] = lu (magic (3));
%! assert (gather (square .* p), magic (3) .* p);
%! assert (gather (u + (1:3)), x + (1:3));
%! assert (gather ((1:3) .* u), (1:3) .* x);

%!testif ; own_type ()  # a switch compares all elements
%! which = "";
%! switch (DeviceArray ([1 2 3]))
%!   case {[1 2], [1 2 4]}
%!     which = "another";
%!   case [1 2 3]
%!     which = "this";
%! endswitch
%! assert (which, "this");
