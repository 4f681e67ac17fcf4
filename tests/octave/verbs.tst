## DeviceArray_CUDA: results of the verbs that implement the class DeviceArray,
## compared with the host's for ordinary arrays.

%!shared image
%! image = [200 13 77 0; 1 255 128 90; 4 5 6 7];

## Arrays of every class, and of sizes that verbs may treat differently.
%!function list = every_class ()
%!  list = {@double, @single, @logical, @int8, @uint8, @int16, @uint16, @int32, @uint32};
%!endfunction

%!function list = samples ()
%!  x = [3 -1 4; 1 -5 9];
%!  list = {x, 5, [1 2 3], [1; 2; 3], reshape(1:24, 2, 3, 4), [], zeros(1, 0), zeros(0, 1), zeros(0, 3), ...
%!          zeros(3, 0), zeros(2, 0, 3), reshape(1:3, 1, 1, 3), [1 0 -2; 0 3.5 200], single(x), int8(x), x > 0, ...
%!          magic(4), [1 2 3 4 5 6]};
%!endfunction

%!function varargout = verb (varargin)
%!  [varargout{1:max (nargout, 1)}] = DeviceArray_CUDA (varargin{:});
%!endfunction

%!function u = held (x)
%!  u = verb ("make", x);
%!endfunction

## The values, and whether they were on the device.
%!function [x, stayed] = values (u)
%!  stayed = isa (u, "DeviceArray");
%!  x = u;
%!  if (stayed)
%!    assert (verb ("size", u), size (verb ("gather", u)));
%!    x = verb ("gather", u);
%!    assert (class (x), verb ("class", u));
%!  endif
%!endfunction

%!function yes = same_bits (a, b)
%!  yes = strcmp (class (a), class (b)) && isequal (size (a), size (b));
%!  a = double (a(:));
%!  b = double (b(:));
%!  yes = yes && all (a == b | isnan (a) & isnan (b));
%!endfunction

## Results are equal, with their class; and a result of one element is a number of the host's, unless the verb builds
## arrays.
%!function agree (got, want, built, what)
%!  [x, stayed] = values (got);
%!  if (! same_bits (x, want) || stayed != (built || numel (want) != 1))
%!    error ("%s: got %s, on the device: %d, wanted %s", told (what), literal (x), stayed, literal (want));
%!  endif
%!endfunction

## The call ends in an error of that identifier.
%!function refuses (id, varargin)
%!  caught = [];
%!  try
%!    verb (varargin{:});
%!  catch caught
%!  end_try_catch
%!  assert (! isempty (caught), "no error of %s", varargin{1});
%!  assert (caught.identifier, ["DeviceArray:" id], caught.message);
%!endfunction

## Host and device agree about a call, or both refuse it.
%!function both (f, g, built, what)
%!  failed = [false false];
%!  try
%!    want = f ();
%!  catch
%!    failed(1) = true;
%!  end_try_catch
%!  try
%!    got = g ();
%!  catch caught
%!    failed(2) = true;
%!  end_try_catch
%!  if (failed(2) && ! failed(1))
%!    error ("%s: refused, %s", told (what), caught.message);
%!  elseif (failed(1) && ! failed(2))
%!    error ("%s: not refused", told (what));
%!  elseif (! failed(1))
%!    agree (got, want, built, what);
%!  endif
%!endfunction

%!function text = told (what)
%!  text = strjoin (cellfun (@literal, what, "UniformOutput", false), ", ");
%!endfunction

%!test # there and back, in every class
%! for s = samples ()
%!   for c = every_class ()
%!     if (! takes ("there and back", s, c))
%!       continue
%!     endif
%!     x = c{1} (s{1});
%!     agree (held (x), x, true, {x});
%!     for d = every_class ()
%!       agree (verb ("convert", held (x), func2str (d{1})), d{1} (x), true, {x});
%!     endfor
%!   endfor
%! endfor
%! x = [NaN Inf -Inf 2.5 -2.5 1e10 -0 0.49999999999999994];
%! for c = every_class ()([1 2 4:end])
%!   agree (verb ("convert", held (x), func2str (c{1})), c{1} (x), true, {func2str(c{1})});
%! endfor
%! refuses ("dataType", "convert", held ([1 NaN]), "logical");
%! refuses ("dataType", "convert", held (1:2), "int64");
%! for x = {int64(1:3), uint64(1), (1:3) + 1i, sparse(eye (2)), "abc", {1}}
%!   refuses ("dataType", "make", x{1});
%! endfor
%! for c = every_class ()
%!   agree (verb ("fill", 3.5, [2 3], func2str (c{1})), c{1} (3.5 * ones (2, 3)), true, {func2str(c{1})});
%! endfor
%! refuses ("dataType", "fill", 1, [2 3], "char");

%!test # operators on one
%! for s = samples ()
%!   for c = every_class ()
%!     if (! takes ("on one", s, c))
%!       continue
%!     endif
%!     x = c{1} (s{1});
%!     u = held (x);
%!     for f = {"uminus", "abs", "not", "isnan", "isinf", "isfinite", "floor", "ceil", "round", "fix", "sign", "sqrt"}
%!       if (strcmp (f{1}, "sqrt"))
%!         x = abs (x);
%!         u = held (x);
%!       endif
%!       agree (verb (f{1}, u), feval (f{1}, x), false, {f{1}, x});
%!     endfor
%!     for k = [2 3 0 -1]
%!       if (k >= 0 || all (x(:) != 0))
%!         agree (verb ("power", u, k), x .^ k, false, {"power", x, k});
%!       endif
%!     endfor
%!   endfor
%! endfor

%!test # operators on two, of all classes
%! operators = {"plus", "minus", "times", "rdivide", "min", "max", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", ...
%!              "xor", "mod"};
%! values_ = {[3 -1 4; 1 -5 100], [0 2.5 0; 1 -60 120]};
%! for ab = {{values_{:}}, {5, [1 2 3]}, {[0; 7], -2.5}, {values_{1}, 3}, {5, 2.5}}
%!   for c = every_class ()
%!     for d = every_class ()
%!       x = c{1} (ab{1}{1});
%!       y = d{1} (ab{1}{2});
%!       for f = operators
%!         ## The host has no remainders of truth values, and no &, | and remainders of two classes of integers.
%!         two = isinteger (x) && isinteger (y) && ! strcmp (class (x), class (y));
%!         if (! takes ("on two", ab, {c, d}, f) || strcmp (f{1}, "mod") && (islogical (x) || islogical (y)) ...
%!             || two && any (strcmp (f{1}, {"and", "or", "mod"})))
%!           continue
%!         endif
%!         what = {f{1}, x, y};
%!         host = @() feval (f{1}, x, y);
%!         both (host, @() verb (f{1}, held (x), y), false, what);
%!         both (host, @() verb (f{1}, x, held (y)), false, what);
%!         both (host, @() verb (f{1}, held (x), held (y)), false, what);
%!       endfor
%!     endfor
%!   endfor
%! endfor
%! ## Truth values of singles are numbers in double.
%! t = verb ("gt", held (single ([1 2 3])), 1.5);
%! agree (verb ("plus", t, t), [0 2 2], false, {});
%! agree (verb ("plus", t, 0.1), [0 1 1] + 0.1, false, {});
%! agree (verb ("sum", t, 0), 2, false, {});
%! agree (verb ("and", t, t), logical ([0 1 1]), false, {});
%! agree (verb ("max", held (int8 (-3)), NaN), max (int8 (-3), NaN), false, {});
%! agree (verb ("rdivide", held (int8 (1:3)), int8 ([0 2 2])), int8 (1:3) ./ int8 ([0 2 2]), false, {});

%!test # reductions
%! verbs = {"sum", @sum; "prod", @prod; "sumsq", @sumsq; "any", @any; "all", @all; "smallest", @(x, d) min(x, [], d); "largest", @(x, d) max(x, [], d)};
%! for s = samples ()
%!   for c = every_class ()
%!     if (! takes ("reductions", s, c))
%!       continue
%!     endif
%!     x = c{1} (s{1});
%!     for i = [1, 2 * ones(numel (x) < 9), 3:rows(verbs)]
%!       ## The host gives extremes of empty truth values other sizes than of numbers.
%!       if (islogical (x) && isempty (x) && i > 5)
%!         continue
%!       endif
%!       ## Octave before 11 makes other sizes of 0 x 0 along a dimension: see arrays_reductions.tst.
%!       for d = 1:4 * (i > 5 || any (size (x)))
%!         agree (verb (verbs{i,1}, held (x), d), verbs{i,2} (x, d), false, ...
%!                {"of", verbs{i,1}, x, d});
%!       endfor
%!       if (! isempty (x))
%!         agree (verb (verbs{i,1}, held (x), 0), verbs{i,2} (x(:), 1), false, {x});
%!       endif
%!     endfor
%!     agree (verb ("sum", held (x), -1), sum (x), false, {x});
%!     agree (verb ("any", held (x), -1), any (x), false, {x});
%!     agree (verb ("all", held (x), -1), all (x), false, {x});
%!     if (! islogical (x) || ! isempty (x))
%!       agree (verb ("largest", held (x), -1), max (x), false, {x});
%!     endif
%!   endfor
%! endfor
%! agree (verb ("nnz", held ([1 NaN 0; 0 0 2]), 0), 3, false, {});
%! agree (verb ("nnz", held (single ([1 NaN 0; 0 0 2])), 1), [1 1 1], false, {});
%! agree (verb ("any", held ([0 NaN]), -1), any ([0 NaN]), false, {});
%! refuses ("dimension", "sum", held (1:3), 1.5);

## Two results, each as one is.
%!function agree_both (f, g, what)
%!  [a, b] = f ();
%!  [c, d] = g ();
%!  if (! (same_bits (values (c), a) && same_bits (values (d), b)))
%!    error ("%s", told (what));
%!  endif
%!endfunction

%!test # along lines
%! for s = samples ()
%!   for c = {@double, @single, @logical, @int8, @uint16}
%!     if (! takes ("along lines", s, c))
%!       continue
%!     endif
%!     x = c{1} (mod (double (s{1}), 7));
%!     u = held (x);
%!     for d = 1:4
%!       agree (verb ("cumsum", u, d), cumsum (widened (x), d), false, {"cumsum", x});
%!       if (numel (x) < 9)
%!         agree (verb ("cumprod", u, d), cumprod (widened (x), d), false, {"cumprod", x});
%!       endif
%!       for mode = {"ascend", "descend"}(1:2 * (d <= ndims (x)))
%!         agree (verb ("sort", u, d, mode{1}), sort (x, d, mode{1}), false, {x});
%!         agree_both (@() sort (x, d, mode{1}), @() verb ("sort", u, d, mode{1}), {"sort", x, d});
%!       endfor
%!       if (! isempty (x))
%!         agree_both (@() max (x, [], d), @() verb ("largest", u, d), {"max", x, d});
%!         agree_both (@() min (x, [], d), @() verb ("smallest", u, d), {"min", x, d});
%!       endif
%!     endfor
%!     ## The host makes a column of empty truth values.
%!     if (islogical (x) && isempty (x))
%!       continue
%!     endif
%!     agree (verb ("find", u), find (x), false, {x});
%!     if (ndims (x) == 2)
%!       agree_both (@() find (x), @() verb ("find", u), {x});
%!     endif
%!   endfor
%! endfor
%! x = [3 NaN -0 0 NaN -Inf Inf 3];
%! agree_both (@() sort (x), @() verb ("sort", held (x), -1, "ascend"), {});
%! agree_both (@() sort (x, "descend"), @() verb ("sort", held (x), -1, "descend"), {});
%! agree_both (@() max ([NaN NaN]), @() verb ("largest", held ([NaN NaN]), -1), {});
%! refuses ("option", "sort", held (x), -1, "up");

%!test # means, and what elements differ from them by
%! for x = {magic(4), single(magic (4)), int8(1:5), [true false true], reshape(1:24, 2, 3, 4), 5, (1:3)'}
%!   for d = 1:3
%!     agree (verb ("mean", held (x{1}), d), sum (x{1}, d) / size (x{1}, d), false, {x{1}});
%!     for weight = {0, 1, []}
%!       for f = {@var, @std}
%!         [got, stayed] = values (verb (func2str (f{1}), held (x{1}), weight{1}, d));
%!         w = [weight{1} 0](1);
%!         y = double (x{1});
%!         if (isa (x{1}, "single"))
%!           y = x{1};
%!         endif
%!         want = f{1} (y, w, d);
%!         assert (got, want, -4 * eps (class (want)));
%!         assert (stayed, numel (want) != 1);
%!       endfor
%!     endfor
%!   endfor
%!   agree (verb ("mean", held (x{1}), 0), sum (x{1}(:)) / numel (x{1}), false, {x{1}});
%! endfor
%! agree (verb ("mean", held ([]), -1), NaN, false, {});
%! agree (verb ("mean", held (zeros (0, 3)), -1), NaN (1, 3), false, {});
%! refuses ("unsupported", "var", held (1:3), [1 2 3], -1);

%!function list = indices ()
%!  list = {{1}, {3}, {[1 2]}, {[1; 2]}, {[]}, {zeros(1, 0)}, {zeros(0, 1)}, {":"}, {[1 2; 3 1]}, {true}, {false}, ...
%!          {[true false true]}, {[true; false; true]}, {[true false false true false false]}, {logical([1 0 1; 0 0 0])}, ...
%!          {6}, {7}, {[6 1 6]}, {1, 1}, {1, ":"}, {":", 1}, {":", ":"}, {[], 1}, {2, [1 2]}, {[1 2], [3 1]}, ...
%!          {[true false], ":"}, {":", [true false true]}, {[true false true], 1}, {1, 1, 1}, {":", 1, 1}, {1, ":", ":"}, ...
%!          {":", ":", 2}, {[2 1], ":", [1 2]}, {1, 5}, {3, 1}, {4, 4}, {":", 4}, {1, 1, 3}, {":", [1 3], 1}, {":", 2, ":"}, ...
%!          {[1 2], 1}, {[1 2], ":"}, {int8(2)}, {single([1 2])}, {2:6}, {1:2:5}, {[1 4 6]}, {reshape([1 2], 1, 1, 2)}};
%!endfunction

## Those of one list that an index may be, on the device.
%!function list = ways (index)
%!  list = {index};
%!  i = index{1};
%!  if (! ischar (i) && isreal (i))
%!    list{2} = [{held(i)}, index(2:end)];
%!  endif
%!endfunction

%!test # what indices pick
%! for s = samples ()
%!   x = s{1};
%!   for i = indices ()
%!     if (! takes ("picked", s, i))
%!       continue
%!     endif
%!     for j = ways (i{1})
%!       both (@() x(i{1}{:}), @() verb ("pick", held (x), j{1}{:}), false, ...
%!             {x, "at", i{1}{:}});
%!     endfor
%!   endfor
%! endfor
%! refuses ("index", "pick", held (1:3), 0);
%! refuses ("index", "pick", held (1:3), 1.5);
%! refuses ("index", "pick", held (1:3), "a");
%! refuses ("index", "pick", held (1:3), held ([1 0]));

%!function x = assigned (x, index, value)
%!  x(index{:}) = value;
%!endfunction

%!test # what is assigned, and how arrays grow
%! for s = samples ()
%!   x = s{1};
%!   if (islogical (x))
%!     continue
%!   endif
%!   for i = indices ()
%!     if (! takes ("assigned", s, i))
%!       continue
%!     endif
%!     for value = {7, [7 8], [7; 8], [7 8 9], [7 8; 9 10], [], zeros(1, 0), zeros(0, 3), reshape(1:4, 1, 2, 2), single(2.5), ...
%!                  int8(7), true, 1:4, (1:6)', 300}
%!       if (isempty (value{1}) && isempty (x) && isequal (size (value{1}), [0 0]))
%!         continue
%!       endif
%!       ## The host reads a dimension that does not exist here, or counts the elements that a mask leaves out.
%!       if (isempty (x) && (numel (i{1}) > 2 || isequal (i{1}, {[true false], ":"})))
%!         continue
%!       endif
%!       for j = ways (i{1})(end)
%!         both (@() assigned (x, i{1}, value{1}), @() verb ("put", held (x), value{1}, j{1}{:}), true, ...
%!               {x, "at", i{1}{:}, "gets", value{1}});
%!       endfor
%!     endfor
%!     if (! isempty (x) || numel (i{1}) < 3)
%!       both (@() assigned (x, i{1}, [7 8]), @() verb ("put", held (x), held ([7 8]), i{1}{:}), true, {x});
%!     endif
%!   endfor
%! endfor
%! agree (verb ("put", held (int8 (1:3)), 300.5, 2), int8 ([1 127 3]), true, {});
%! agree (verb ("put", held ([true false]), 3, 2), [true true], true, {});
%! refuses ("dataType", "put", held ([true false]), NaN, 2);
%! u = held (magic (4));
%! agree (verb ("put", u, 0, verb ("gt", u, 7)), magic (4) .* (magic (4) <= 7), true, {});
%! agree (verb ("pick", u, verb ("gt", u, 7)), magic (4)(magic (4) > 7), false, {});

%!function x = removed (x, index)
%!  x(index{:}) = [];
%!endfunction

%!test # what is removed
%! for s = samples ()
%!   x = s{1};
%!   for i = indices ()
%!     ## The host takes a list in order for another thing than a range.
%!     if (numel (i{1}) == 1 && ! isvector (x) && isnumeric (i{1}{1}) && numel (i{1}{1}) > 1 || ! takes ("removed", s, i))
%!       continue
%!     endif
%!     for j = ways (i{1})
%!       both (@() removed (x, i{1}), @() verb ("remove", held (x), j{1}{:}), true, ...
%!             {x, "without", i{1}{:}});
%!     endfor
%!   endfor
%! endfor
%! agree (verb ("remove", held (magic (4)), 2:4), removed (magic (4), {2:4}), true, {});
%! m = rand (6, 40) > 0.5;
%! x = rand (6, 40);
%! agree (verb ("remove", held (x), held (m)), removed (x, {m}), true, {});
%! agree (verb ("remove", held (x), ":", [3 1 20 40 22 11 13 17 33 35 37]), ...
%!        removed (x, {":", [3 1 20 40 22 11 13 17 33 35 37]}), true, {});

%!test # in place: the number goes on to the new object
%! for value = {7, [7 8], held([7 8])}
%!   u = held (1:4);
%!   clear v
%!   before = verb ("count");
%!   v = verb ("write", u, value{1}, [2 3]);
%!   want = 1:4;
%!   want(2:3) = values (value{1});
%!   agree (v, want, true, {});
%!   assert (verb ("count"), before);
%!   refuses ("deleted", "gather", u);
%! endfor
%! u = held (1:4);
%! refuses ("size", "write", u, [1 2 3], [2 3]);
%! refuses ("index", "write", u, 1, 1.5);
%! agree (u, 1:4, true, {});
%! ## Another object has the same numbers: they are copied.
%! w = verb ("reshape", u, [2 2]);
%! v = verb ("write", u, 7, 1);
%! agree (v, [7 2 3 4], true, {});
%! agree (w, [1 3; 2 4], true, {});
%! agree (verb ("write", v, 9, 6), [7 2 3 4 0 9], true, {});
%! u = held (1:4);
%! agree (verb ("write", u, u, ":"), 1:4, true, {});

%!test # joined
%! lists = {{[1 2], 3}, {[1 2]}, {[1; 2], [3 4; 5 6]}, {[], 1}, {zeros(1, 0), [1 2; 3 4]}, {single(1), 2}, {true, false}, {true, 2}, ...
%!          {true, single(2)}, {int8(5), 300}, {uint8(200), int8(-1), 3}, {magic(3), eye(3) > 0}, {1:3, 1:2}, ...
%!          {ones(2, 3, 2), ones(2, 3)}, {ones(2, 2), ones(2, 2, 2)}, {zeros(0, 3), ones(1, 3)}, {[], []}, ...
%!          {single([]), 1}, {ones(2, 3), zeros(2, 0)}, {1, 2, 3, 4}, {zeros(0, 3), zeros(0, 2)}};
%! for l = lists
%!   list = l{1};
%!   for dim = 1:4
%!     ## The operators leave out more than cat does.
%!     host = {@vertcat, @horzcat, @(varargin) cat(3, varargin{:}), @(varargin) cat(4, varargin{:})}{dim};
%!     for k = 1:numel (list)
%!       given = list;
%!       given{k} = held (given{k});
%!       both (@() host (list{:}), @() verb ("cat", dim, given{:}), true, {"along", list{:}, dim});
%!     endfor
%!     given = cellfun (@held, list, "UniformOutput", false);
%!     both (@() host (list{:}), @() verb ("cat", dim, given{:}), true, {"along", list{:}, dim});
%!   endfor
%! endfor
%! refuses ("size", "cat", 1, held (1:3), 1:2);
%! refuses ("dataType", "cat", 1, held (1:3), "abc");
%! refuses ("dimension", "cat", 0, held (1:3), 1);

%!test # turned, repeated, shifted, cut
%! for s = samples ()
%!   x = s{1};
%!   u = held (x);
%!   for d = 1:4
%!     agree (verb ("flip", u, d), flip (x, d), true, {x});
%!     for n = [0 1 -1 2 7](1:5 * (d <= ndims (x)))
%!       agree (verb ("circshift", u, n, d), circshift (x, n, d), true, {"by along", x, n, d});
%!     endfor
%!     for order = (0:3)(1:4 * (d <= ndims (x)))
%!       agree (verb ("diff", u, order, d), diff (x, order, d), false, {"diff", x, order, d});
%!     endfor
%!   endfor
%!   agree (verb ("flip", u, -1), flip (x), true, {x});
%!   for times = {[1 1], [2 3], [0 2], [2 1 3], [1 1 2 2]}
%!     agree (verb ("repmat", u, times{1}), repmat (x, times{1}), true, {x});
%!   endfor
%!   for order = {[1 2 3], [2 1 3], [3 1 2], [2 3 1], [3 2 1], [4 1 3 2]}
%!     agree (verb ("permute", u, order{1}), permute (x, order{1}), true, {x});
%!   endfor
%!   for sizes = {[2 2], [5 5], [1 7], [0 3], [2 2 2], [3 3 3 2]}
%!     if (ndims (x) <= numel (sizes{1}))
%!       agree (verb ("resize", u, sizes{1}), resize (x, sizes{1}), true, {x});
%!     endif
%!   endfor
%!   if (ndims (x) == 2)
%!     agree (verb ("transpose", u), x.', true, {x});
%!     for k = -1:5
%!       agree (verb ("rot90", u, k), rot90 (x, k), true, {"rot90", x, k});
%!     endfor
%!     for k = -5:5
%!       if (! isempty (x))
%!         agree (verb ("triu", u, k), triu (x, k), true, {"triu", x, k});
%!         agree (verb ("tril", u, k), tril (x, k), true, {"tril", x, k});
%!       endif
%!     endfor
%!   else
%!     for f = {"transpose"}
%!       refuses ("dimension", f{1}, u);
%!     endfor
%!     refuses ("dimension", "rot90", u, 1);
%!     refuses ("dimension", "triu", u, 0);
%!   endif
%! endfor
%! x = reshape (1:128, 2, 2, 2, 2, 2, 4);
%! for order = {[6 5 4 3 2 1], [6 4 5 2 3 1], [2 1 4 3 6 5]}
%!   agree (verb ("permute", held (x), order{1}), permute (x, order{1}), true, {});
%! endfor
%! agree (verb ("resize", held (reshape (1:8, 2, 2, 2)), [3 3]), [1 3 0; 2 4 0; 0 0 0], true, {});
%! agree (verb ("repmat", held (x), [1 2 1 2 1 2]), repmat (x, [1 2 1 2 1 2]), true, {});
%! refuses ("dimension", "permute", held (1:3), [1 1]);
%! refuses ("dimension", "permute", held (1:3), 1);
%! refuses ("size", "circshift", held (1:3), 1.5, 1);
%! refuses ("dimension", "flip", held (1:3), 0);
%! agree (verb ("triu", held ([NaN Inf; NaN Inf]), 0), [NaN Inf; 0 Inf], true, {});

%!test # images of integers and truth values are filtered where they lie
%! filter = [1 2 1; 2 4 2; 1 2 1] / 13;
%! for c = every_class ()(3:end)
%!   x = c{1} (image);
%!   for options = {{}, {"symmetric"}, {7}, {"full"}, {"valid"}, {"Iterations", 3, "Boundary", "circular"}, {"Iterations", 0}}
%!     for f = {filter, {filter, [0 1 0; 1 -4 1; 0 1 0]}, ones(2, 2, 2) / 5}
%!       what = {x, disp(options{1}), numel(f{1})};
%!       both (@() ConvolutionConstantMemory_CUDA (x, f{1}, options{1}{:}), ...
%!             @() ConvolutionConstantMemory_CUDA (held (x), f{1}, options{1}{:}), true, what);
%!     endfor
%!   endfor
%!   volumes = repmat (x, [1 1 2 2]);
%!   agree (ConvolutionConstantMemory_CUDA (held (volumes), ones (2, 2, 2) / 5), ...
%!          ConvolutionConstantMemory_CUDA (volumes, ones (2, 2, 2) / 5), true, {volumes});
%!   for f = {@StencilConstantMemory_CUDA, @DerivativeConstantMemory_CUDA}
%!     caught = [];
%!     try
%!       f{1} (held (x), 1);
%!     catch caught
%!     end_try_catch
%!     assert (! isempty (strfind (caught.identifier, ":dataType")), caught.message);
%!     assert (! isempty (strfind (caught.message, [func2str(c{1}) " DeviceArray, expected"])), caught.message);
%!   endfor
%! endfor
