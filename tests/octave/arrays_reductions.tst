## DeviceArray: reductions, scans, sorting and searching, compared with ordinary arrays. A result of one element is an
## ordinary number.

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

%!test # sum, any, all, prod, sumsq: of everything, along each dimension, of empties, in every class
%! for f = {@sum, @any, @all, @prod, @sumsq}
%!   for s = array_samples (true)
%!     if (! takes ("reductions", {f, class(s{1})}, s))
%!       continue
%!     endif
%!     alike (f{1}, s);
%!     for dim = 1:4
%!       if (any (size (s{1})))
%!         alike (@(a) f{1} (a, dim), s);
%!       else
%!         ## As MATLAB and Octave from 11 on have it.
%!         got = f{1} (DeviceArray (s{1}), dim);
%!         assert (size (got), {[1 0], [0 1], [0 0], [0 0]}{dim});
%!         assert (class (gather (got)), class (f{1} (s{1})));
%!       endif
%!     endfor
%!     ## The product of 1 to 24 depends on the order, in single.
%!     if (! (isa (s{1}, "single") && numel (s{1}) == 24 && strcmp (func2str (f{1}), "prod")))
%!       alike (@(a) f{1} (a(:)), s);
%!     endif
%!   endfor
%! endfor

%!function list = places (f, varargin)
%!  list = cell (1, 2);
%!  [list{:}] = f (varargin{:});
%!endfunction

%!test # the smallest and the largest, and where they stand
%! for f = {@min, @max}
%!   for s = array_samples (true)
%!     ## The host gives extremes of empty truth values other sizes than of numbers.
%!     if (islogical (s{1}) && isempty (s{1}) || ! takes ("extremes", {f, class(s{1})}, s))
%!       continue
%!     endif
%!     alike (f{1}, s);
%!     alike (@(a) places (f{1}, a), s);
%!     for dim = 1:4
%!       alike (@(a) f{1} (a, [], dim), s);
%!       alike (@(a) places (f{1}, a, [], dim), s);
%!     endfor
%!   endfor
%!   for c = {@double, @single}
%!     for s = {[NaN 1 NaN 1 0 0], [NaN NaN], [NaN; 2; NaN], [1 NaN; NaN NaN; -Inf Inf], [0 -0; -0 0], [Inf -Inf NaN], NaN}
%!       alike (f{1}, {c{1}(s{1})});
%!       alike (@(a) places (f{1}, a), {c{1}(s{1})});
%!       alike (@(a) places (f{1}, a, [], 2), {c{1}(s{1})});
%!     endfor
%!   endfor
%! endfor

%!test # of truth values, and what is not true: NaN
%! for c = {@double, @single}
%!   for f = {@any, @all}
%!     for s = {[0 NaN 0; NaN NaN 1], [0 NaN; 0 1], [0 NaN], NaN, [NaN; 0], [1 NaN]}
%!       alike (f{1}, {c{1}(s{1})});
%!       alike (@(a) f{1} (a, 1), {c{1}(s{1})});
%!       ## To the host's ALL, NaN is a zero along the rows of a matrix only.
%!       if (strcmp (func2str (f{1}), "any"))
%!         alike (@(a) f{1} (a, 2), {c{1}(s{1})});
%!         alike (@(a) f{1} (a, 3), {c{1}(s{1})});
%!       endif
%!     endfor
%!     alike (f{1}, {[NaN, c{1}(zeros (1, 5000)), -1]});
%!     alike (f{1}, {[NaN, c{1}(zeros (1, 5000))]});
%!   endfor
%! endfor
%! assert (any (DeviceArray ([0 NaN])), any ([0 NaN]));
%! assert (gather (any (DeviceArray ([0 NaN; 0 1]), 2)), any ([0 NaN; 0 1], 2));

%!test # over all elements at once
%! for c = array_classes ()
%!   y = c{1} (x);
%!   d = DeviceArray (y);
%!   assert (same_bits (sum (d, "all"), sum (y(:))));
%!   assert (any (d, "all"), true);
%!   assert (all (d > 0, "all"), all (y(:) > 0));
%!   assert (same_bits (max (d, [], "all"), max (y(:))));
%!   assert (same_bits (min (d, [], "all"), min (y(:))));
%!   assert (nnz (d), nnz (y));
%! endfor
%! assert (sum (DeviceArray (zeros (0, 3)), "all"), 0);
%! assert (all (DeviceArray (zeros (0, 3)), "all"), true);
%! assert (any (DeviceArray ([]), "all"), false);

%!test # ordinary numbers, in conditions, in texts and as indices
%! reached = 0;
%! if (all (all (u < 10)) && any (u(:) > 8))
%!   reached++;
%! endif
%! while (sum (u(:)) < 0 || max (u(:)) == 9)
%!   reached++;
%!   break;
%! endwhile
%! assert (reached, 2);
%! assert (sprintf ("%d", sum (u(:))), "11");
%! assert (x(max (u(1,:))), x(4));
%! for value = {sum(u(:)), max(u(:)), any(u(:)), u(1), dot(u(:), u(:)), norm(u(:)), nnz(u), DeviceArray(3) + 1}
%!   assert (! isa (value{1}, "DeviceArray"));
%! endfor
%! assert (class (any (u(:))), "logical");
%! assert (class (sum (single (u(:)))), "single");
%! assert (class (sum (u(:) > 0)), "double");
%! assert (class (max (int8 (u(:)))), "int8");

%!test # sums of integers
%! for c = array_classes ()(4:end)
%!   for s = {c{1}([100 100 100 -100 -100]), c{1}([Inf -1]), c{1}([-Inf 1 1]), c{1}([Inf Inf -Inf])}
%!     alike (@sum, s);
%!     alike (@(a) sum (a, 1), s);
%!     alike (@prod, s);
%!     alike (@sumsq, s);
%!     alike (@(a) cumsum (widened (a)), s);
%!     alike (@mean, s);
%!   endfor
%! endfor

%!test # words that are not there
%! for word = {"native", "double", "other"}
%!   refused (@() sum (u, word{1}), "", "all");
%! endfor

%!test # dimensions that are none
%! for f = {@sum, @any, @all, @prod, @sumsq, @cumsum, @mean, @flip}
%!   for bad = {0, -1, 1.5, NaN}
%!     refused (@() f{1} (u, bad{1}), "dimension", "dimension");
%!   endfor
%! endfor
%! for bad = {0, -1, 1.5, NaN, [1 1], [1 0]}
%!   refused (@() max (u, [], bad{1}), "dimension", "dimension");
%! endfor
%! refused (@() max (u, 1, 2), "dimension", "dimension");
%! refused (@() max (u, u, 2), "dimension", "dimension");

%!test # along several dimensions: as along one that has their elements column after column
%! y = reshape (mod ((1:120) .^ 2, 37) - 7.25, 2, 3, 4, 5);
%! d = DeviceArray (y);
%! for f = {@sum, @prod, @sumsq, @any, @all, @mean, @median, @(a, dim) max(a, [], dim), @(a, dim) min(a, [], dim)}
%!   for dims = {[1 2], [2 1], [2 3], [1 3], [2 4], [4 1 3], [1 2 3 4], [1 7]}
%!     inside = dims{1}(dims{1} <= 4);
%!     others = setdiff (1:4, inside);
%!     sizes = size (y);
%!     sizes(inside) = 1;
%!     one = reshape (permute (y, [sort(inside), others]), [prod(size (y)(inside)), prod(size (y)(others))]);
%!     got = f{1} (d, dims{1});
%!     assert (isa (got, "DeviceArray"), prod (sizes) > 1);
%!     assert (size (got), size (zeros (sizes)));
%!     assert (same_bits (gather (got)(:), gather (f{1} (DeviceArray (one), 1))(:)));
%!     assert (gather (got)(:), f{1} (one, 1)(:), -8 * eps);
%!   endfor
%! endfor
%! assert (sum (DeviceArray (zeros (0, 3)), [1 2]), 0);
%! assert (size (max (DeviceArray (zeros (0, 3)), [], [1 2])), [0 0]);
%! for f = {@() sort(u, [1 2]), @() cumsum(u, [1 2]), @() var(u, 0, [1 2]), @() places(@max, u, [], [1 2])}
%!   refused (f{1}, "", "");
%! endfor

%!function r = of_some (f, p, none)
%!  r = none;
%!  if (! isempty (p))
%!    r = f (p);
%!  endif
%!endfunction

%!test # without NaN, and with it
%! for c = {@double, @single}
%!   n = c{1} ([NaN 2 4 NaN; 1 NaN 9 NaN; 3 5 NaN NaN]);
%!   d = DeviceArray (n);
%!   for dim = 1:2
%!     part = {};
%!     for line = num2cell (n, dim)(:).'
%!       part{end+1} = line{1}(! isnan (line{1}));
%!     endfor
%!     want = @(f, none) cellfun (@(p) of_some (f, p, none), part)(:);
%!     assert (gather (sum (d, dim, "omitnan"))(:), want (@sum, c{1} (0)));
%!     assert (gather (mean (d, dim, "omitnan"))(:), want (@mean, c{1} (NaN)));
%!     assert (gather (median (d, dim, "omitnan"))(:), want (@median, c{1} (NaN)));
%!     assert (size (median (d, dim, "omitnan")), size (sum (n, dim)));
%!     assert (gather (max (d, [], dim, "omitnan")), max (n, [], dim));
%!     assert (gather (max (d, [], dim, "includenan")), max (n, [], dim) + 0 * sum (n, dim));
%!     assert (gather (min (d, [], dim, "includenan")), min (n, [], dim) + 0 * sum (n, dim));
%!   endfor
%!   p = n(! isnan (n));
%!   assert (sum (d, "all", "omitnan"), sum (p));
%!   assert (mean (d, [1 2], "omitnan"), mean (p));
%!   assert (median (d, "all", "omitnan"), median (p));
%!   assert (gather (max (d, 2, "includenan")), max (n, 2) + 0 * n);
%!   assert ({sum(DeviceArray (n(1)), "omitnan"), mean(DeviceArray (n(1)), "omitnan")}, {c{1}(0), c{1}(NaN)});
%! endfor
%! assert (gather (sum (int8 (u), "omitnan")), sum (x));
%! refused (@() prod (u, "omitnan"), "unsupported", "omitnan");
%! refused (@() var (u, 0, "omitnan"), "unsupported", "omitnan");

%!test # medians
%! for c = {@double, @single}
%!   for s = {x, 5, [3; 1], [NaN 1 2], reshape((1:24) .* (-1) .^ (1:24), 2, 3, 4), zeros(1, 0), [Inf -Inf 1], mod((1:70001)' .^ 2, 1013), ...
%!            -0, [realmax realmax realmax]}
%!     for dim = 1:3
%!       if (! isempty (s{1}))
%!         alike (@(a) median (a, dim) + 0, {c{1}(s{1})});
%!       endif
%!     endfor
%!   endfor
%! endfor
%! assert (median (u, "all"), 2);
%! assert ({median(u(u > 8)), median(DeviceArray.zeros (1)), median(DeviceArray ([]))}, {9, 0, NaN});
%! assert (class (median (int8 (u(1,:)))), "double");

%!test # of nothing
%! for f = {@var, @std, @(a) var(a, 1), @(a) std(a, 0, 1)}
%!   assert (gather (f{1} (DeviceArray (zeros (0, 3)))), NaN (1, 3));
%!   assert (f{1} (u(u > 100)), NaN);
%! endfor

## --- Scans, means, differences ----------------------------------------------------

%!test # cumulated sums
%! for s = array_samples (true)
%!   alike (@(a) cumsum (widened (a)), s);
%!   for dim = 1:3
%!     alike (@(a) cumsum (widened (a), dim), s);
%!   endfor
%! endfor
%! assert (gather (cumsum (DeviceArray (ones (1, 1e5)))), 1:1e5);

%!test # the largest and the smallest so far
%! for f = {@cummax, @cummin}
%!   for s = [array_samples(true), {[NaN NaN 2 1 3 3 NaN -Inf; 1 NaN 0 5 5 9 -0 0], (mod ((1:700) .^ 2, 101)).'}]
%!     if (! takes ("cumulated extremes", {f, class(s{1})}, s))
%!       continue
%!     endif
%!     alike (f{1}, s);
%!     for dim = 1:3
%!       alike (@(a) f{1} (a, dim), s);
%!       if (! isempty (s{1}) && ! islogical (s{1}))
%!         alike (@(a) places (f{1}, a, dim), s);
%!       endif
%!     endfor
%!   endfor
%! endfor

%!test # means, variances and deviations, but for rounding
%! for f = {@mean, @var, @std, @(a) mean(a, 1), @(a) mean(a, 2), @(a) mean(a, 3), @(a) var(a, 0, 1), @(a) var(a, 1, 2), ...
%!          @(a) std(a, 0, 2), @(a) std(a, 1), @(a) mean(a(:)), @(a) var(a(:)), @(a) std(a(:))}
%!   for s = {x, [1 2 3], [1; 2; 4], 5, reshape(1:24, 2, 3, 4), single(x), [1 NaN; 2 3]}
%!     want = f{1} (s{1});
%!     got = f{1} (DeviceArray (s{1}));
%!     assert (isa (got, "DeviceArray"), numel (want) != 1);
%!     got = gather (got);
%!     assert (class (got), class (want));
%!     assert (got, want, -8 * eps (class (want)));
%!   endfor
%! endfor
%! for c = array_classes ()(3:end)
%!   alike (@mean, {c{1}([1 0 1; 0 0 1])});
%!   alike (@mean, {c{1}([1 0 1 1])});
%! endfor

%!test # differences
%! alike (@(a) diff (a, 2), {[1 4 9 16; 2 3 5 7].'});
%! ## A count of the dimension's length or more continues along the next one.
%! for s = {[1 2; 3 5], [1 2 7; 3 5 20], reshape((1:24) .^ 2, 2, 3, 4), [1 4 9], [1; 4; 9], reshape((1:4) .^ 2, 1, 1, 4), 5, zeros(0, 3)}
%!   for order = [0:7, 2^52]
%!     alike (@(a) diff (a, order), s);
%!   endfor
%! endfor
%! refused (@() diff (u, 1, 3), "dimension", "dimension 3");
%! refused (@() diff (u, 1, 2^31), "dimension", "dimension 2147483648");
%! alike (@(a) diff (a, 2, 2), {reshape((1:24) .^ 2, 2, 3, 4)});
%! for s = array_samples (true)
%!   if (! isempty (s{1}))
%!     alike (@diff, s);
%!     alike (@(a) diff (a, 1), s);
%!   endif
%!   for dim = 1:ndims (s{1})
%!     alike (@(a) diff (a, 1, dim), s);
%!   endfor
%! endfor

## --- Searching and sorting --------------------------------------------------------

%!test # find
%! for s = array_samples (true)
%!   ## The host makes a column of empty truth values.
%!   if (! (islogical (s{1}) && isempty (s{1})))
%!     alike (@find, s);
%!   endif
%! endfor
%! for f = {@(a) find(a, 1), @(a) find(a, 2), @(a) find(a, 1, "last"), @(a) find(a > 100), @(a) find(a, 100)}
%!   alike (f{1}, {x});
%!   alike (f{1}, {[0 0 1 0 1]});
%!   alike (f{1}, {[0; 0; 1; 0; 1]});
%!   alike (f{1}, {zeros(0, 3)});
%! endfor
%! for s = {x > 2, [0 1 1], [0; 1], zeros(2, 2), NaN, [0 NaN]}
%!   alike (@(a) places (@find, a), s);
%! endfor
%! v = u;
%! v(find (v > 2)) = 0;
%! assert (gather (v), x .* (x <= 2));

%!test # sort
%! for s = array_samples (true)
%!   if (! takes ("sort", class (s{1}), s))
%!     continue
%!   endif
%!   alike (@sort, s);
%!   alike (@(a) sort (a, "descend"), s);
%!   for dim = 1:3
%!     alike (@(a) sort (a, dim), s);
%!   endfor
%!   if (numel (s{1}) != 1)  # two outputs of one element stay
%!     alike (@(a) places (@sort, a), s);
%!   endif
%! endfor
%! for c = {@double, @single}
%!   for s = {[3 NaN 1 -Inf NaN Inf -0 0 0 -0 1], [2 1 2 1 2 1; 3 3 1 1 2 2]}
%!     for f = {@(a) places(@sort, a), @(a) places(@sort, a, 2), @(a) places(@sort, a, "descend"), ...
%!              @(a) places(@sort, a, 2, "descend"), @(a) sort(a, 1, "ascend")}
%!       alike (f{1}, {c{1}(s{1})});
%!     endfor
%!   endfor
%! endfor

## --- Products of two, and norms ---------------------------------------------------

%!test # dot
%! a = [1 2 3];
%! b = [4 5 6];
%! alike (@dot, {a, b});
%! alike (@dot, {a, b.'});
%! alike (@dot, {a.', b});
%! alike (@dot, {a, single(b)});
%! alike (@dot, {x, x});
%! alike (@(a, b) dot (a, b, 1), {x, x});
%! alike (@(a, b) dot (a, b, 2), {x, x});
%! alike (@dot, {2, 3});
%! for c = array_classes ()(4:end)  # saturated, and added in double
%!   alike (@dot, {c{1}([100 100 Inf]), c{1}([1 2 3])});
%!   alike (@(a, b) dot (a, b, 1), {c{1}([100; 100]), [1.5; 2]});
%! endfor
%! refused (@() dot (u), "numberOfInputs", "dot (U, V)");
%! refused (@() dot (u, DeviceArray (x.')), "size", "2x3");
%! refused (@() dot (u, a), "size", "2x3");
%! refused (@() dot (DeviceArray (a), [1 2]), "size", "3");

%!test # norm
%! for v = {[3 -4], [3; -4; 12], 5, [], zeros(1, 0), [0 0], single([3 -4]), [1 NaN], [Inf 1]}
%!   d = DeviceArray (v{1});
%!   for p = {1, 2, Inf, -Inf, "fro", "inf", "Inf"}
%!     got = norm (d, p{1});
%!     want = norm (v{1}, p{1});
%!     assert (class (got), class (want));
%!     assert (got, want, -4 * eps (class (want)));
%!   endfor
%!   assert (norm (d), norm (v{1}), -4 * eps (class (v{1})));
%! endfor
%! assert (norm (u, "fro"), norm (x, "fro"), -4 * eps);
%! ## Squares that leave the range
%! for scale = [1e200, 1e-200, 1e-310]
%!   assert (norm (DeviceArray ([3 4] * scale)), 5 * scale, -1e-9);
%! endfor
%! assert (norm (DeviceArray (single ([3 4] * 1e30))), single (5e30), -8 * eps ("single"));
%! assert (norm (DeviceArray (single ([3 4] * 1e-30))), single (5e-30), -8 * eps ("single"));
%! for p = {{}, {1}, {2}, {Inf}}
%!   refused (@() norm (u, p{1}{:}), "unsupported");
%! endfor
%! refused (@() norm (DeviceArray ([1 2]), 3), "unsupported");
%! refused (@() norm (DeviceArray ([1 2]), "nuc"), "unsupported");
%! refused (@() norm (DeviceArray (ones (2, 2, 2)), "fro"), "unsupported");

%!test # counts
%! for s = array_samples (true)
%!   assert (nnz (DeviceArray (s{1})), nnz (s{1}));
%! endfor
%! assert (class (nnz (single (u))), "double");
%! assert (nnz (DeviceArray ([NaN 0 1])), nnz ([NaN 0 1]));
