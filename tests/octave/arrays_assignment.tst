## DeviceArray: assignment to elements, growth and deletion, compared with
## ordinary arrays; places that have no value yet; the names that see it.

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

%!function a = put_at (a, value, varargin)
%!  a(varargin{:}) = value;
%!endfunction

## An object of the class cannot distinguish a literal [] from the value of a name: both delete.
%!function yes = deletes (value)
%!  yes = ! own_type () && isequal (size (value), [0 0]);
%!endfunction

%!function a = without (a, varargin)
%!  a(varargin{:}) = [];
%!endfunction

## --- Elements ---------------------------------------------------------------------

%!test # elements, ranges, masks; the old array stays as it was
%! cases = {{5}, 7; {2, 3}, 7; {1, ':'}, [1 2 3]; {':', 2}, [8; 9]; {':'}, 0; {':'}, 1:6; {[1 3]}, [5 6]; ...
%!          {logical([1 0 1])}, [5 6]; {x > 2}, -1; {2, logical([1 0 1])}, 4; {[], 1}, 3; {int8(2), 2}, 1; {1, 2:3}, single([1 2]); ...
%!          {[1 1]}, [5 6]; {':', ':'}, x + 1; {2, ':'}, 0; {[2 1], ':'}, x; {x > 2}, [7; 8; 9]; {6}, true; {1, 1}, int8(7); ...
%!          {[1 2; 3 1]}, 9:-1:6; {1:3}, [7; 8; 9]; {':', 1, 1}, [7 8]};
%! for k = 1:rows (cases)
%!   [index, value] = cases{k,:};
%!   for c = array_classes ()
%!     alike (@(a, v) put_at (a, v, index{:}), {c{1}(x), value}, true, 1);
%!   endfor
%!   v = w = u;
%!   v(index{:}) = value;
%!   assert (gather (v), put_at (x, double (value), index{:}));
%!   assert (gather (w), x);
%!   assert (gather (u), x);
%! endfor

%!test # the class of the array stays, but for integers; of truth values, singles alone make doubles of all
%! for c = array_classes ()
%!   for d = array_classes ()
%!     alike (@(a, v) put_at (a, v, 2), {c{1}([1 0 1]), d{1}(7)}, true, 1);
%!     alike (@(a, v) put_at (a, v, [1 3]), {c{1}([1 0 1]), d{1}([0 100])}, true, 1);
%!   endfor
%! endfor
%! alike (@(a) put_at (a, 300.5, 2), {int8(1:3)}, true);
%! alike (@(a) put_at (a, -1.5, 2), {uint8(1:3)}, true);
%! alike (@(a) put_at (a, NaN, 2), {int8(1:3)}, true);
%! alike (@(a) put_at (a, NaN, 2), {single(1:3)}, true);

%!test # END, operators that assign, several at once
%! w = x;
%! v = u;
%! v(end) = w(end) = 1;
%! v(end,1) = w(end,1) = 2;
%! v(2:end,2) += 10;
%! w(2:end,2) += 10;
%! v(1)++;
%! w(1)++;
%! v(:,end) .*= 3;
%! w(:,end) .*= 3;
%! v(v > 5) -= 5;
%! w(w > 5) -= 5;
%! [v(1), v(2,:)] = deal (4, [7 8 9]);
%! [w(1), w(2,:)] = deal (4, [7 8 9]);
%! v(2,:) = v(1,:);
%! w(2,:) = w(1,:);
%! v([1 2],:) = v([2 1],:);
%! w([1 2],:) = w([2 1],:);
%! v(:) = v(end:-1:1);
%! w(:) = w(end:-1:1);
%! assert (gather (v), w);
%! assert (gather (u), x);

%!test # with masks on the device
%! for f = {@(a) put_at(a, 0, a > 2), @(a) put_at(a, a(a > 2) + 1, a > 2), @(a) put_at(a, 7, a > 100), @(a) put_at(a, [], a > 100), ...
%!          @(a) put_at(a, 5, ':', a(1,:) > 0), @(a) put_at(a, [1 2 3], a > 2), @(a) put_at(a, NaN, isfinite (a))}
%!   alike (f{1}, {x}, true);
%! endfor
%! alike (@(a, m) put_at (a, 7, m), {x, x > 2}, true, 1);
%! alike (@(a, i, v) put_at (a, v, i), {x, [1 6], [7 8]}, true, 1);
%! v = u;
%! v(v > 2) = 0;
%! assert (gather (v), x .* (x <= 2));
%! w = put_at (x, 0, x > 2);
%! v(v == 0) = [];
%! w(w == 0) = [];
%! assert (gather (v), w);

%!test # a list of places takes as many values, whatever their dimensions; no places take none
%! for given = {{9:-1:6, [1 2; 3 1]}, {[7; 8], [1 2]}, {1:6, ":"}, {reshape(1:6, 1, 2, 3), 1:6}, {[], zeros(1, 0)}, ...
%!              {zeros(0, 1), []}, {zeros(0, 3), false(2, 3)}, {zeros(3, 0), zeros(1, 0)}, {[1 2 3], logical([1 1 1; 0 0 0])}, ...
%!              {zeros(1, 0), []}, {zeros(0, 3), [], ":"}, {[], [], ":"}, {5, []}, {zeros(1, 0), false}, {1:4, 1:3}, {1:3, ":", ":"}, ...
%!              {(1:6)', ":", ":"}, {[], 1}, {zeros(0, 3), 1}, {[1 2], 1, ":"}, {ones(3, 2), ":", ":"}, {1:2, 1:3}}
%!   if (! deletes (given{1}{1}))
%!     alike (@(a, v) put_at (a, v, given{1}{2:end}), {x, given{1}{1}}, true, 1);
%!   endif
%! endfor
%! a = DeviceArray ([1 2 3]);
%! v = [];
%! a(zeros (1, 0)) = v;
%! assert (gather (a), [1 2 3]);
%! a([]) = zeros (0, 1);
%! assert (gather (a), [1 2 3]);
%! a([1 2; 3 1]) = 9:-1:6;
%! assert (gather (a), [6 7 8]);

## --- Growth -----------------------------------------------------------------------

%!test # as the host's arrays grow
%! for given = {{7, 9}, {7, 3, 4}, {7, 1, 5}, {[7; 8], ":", 5}, {[7 8 9], 4, ":"}, {7, 1, 1, 3}, {ones(2, 3), ":", ":", 2}, {7, [2 9]}, ...
%!              {1:2, 1, [5 7]}, {[], 9}, {7, []}, {7, 2, 2, 2, 2}, {1, ":", 4}, {7, 3, 1}, {x, 3:4, 2:4}, {true, 8}, {int8(5), 8}, {7, 2.0, 4}}
%!   for s = [array_samples(), {int8([1 2 3]), [true false]}]
%!     ## The host has special rules for pages of empty arrays.
%!     if (isempty (s{1}) && ! isequal (s{1}, []) && numel (given{1}) == 4 || deletes (given{1}{1}))
%!       continue
%!     endif
%!     alike (@(a, v) put_at (a, v, given{1}{2:end}), {s{1}, given{1}{1}}, true, 1);
%!   endfor
%! endfor
%! ## An end that grows
%! v = DeviceArray ([]);
%! w = [];
%! for k = 1:10
%!   v(end+1) = w(end+1) = k;
%! endfor
%! assert (gather (v), w);
%! v = DeviceArray (zeros (0, 3));
%! w = zeros (0, 3);
%! for k = 1:4
%!   v(end+1,:) = w(end+1,:) = [k 2 3];
%! endfor
%! assert (gather (v), w);

%!test # what does not fit
%! for f = {@() put_at(u, 1, 0), @() put_at(u, 1, 1.5), @() put_at(u, 1, -1), @() put_at(u, 1, 1, 0), @() put_at(u, 1, NaN), @() put_at(u, 1, Inf), ...
%!          @() put_at(u, 1, DeviceArray (0)), @() put_at(u, 1, "a")}
%!   refused (f{1}, "index", "");
%! endfor
%! for f = {@() put_at(u, [1 2 3], 1:2), @() put_at(u, 1:2, ":"), @() put_at(u, [1 2], 1, ":"), @() put_at(u, 1:3, ":", 1), @() put_at(u, (1:6)', ":", ":"), ...
%!          @() put_at(u, 7, 9), @() put_at(u, 1:3, 1:4), @() put_at(u, 1:4, ":", 9)}(1:5)
%!   refused (f{1}, "size", "");
%! endfor
%! refused (@() put_at (u, 7, 9), "", "");
%! for bad = {{1}, 1i, struct(), sparse(1), int64(1), "a", @sin}
%!   fail ("put_at (u, bad{1}, 1)");
%! endfor
%! assert (gather (u), x);

## --- Deletion ---------------------------------------------------------------------

%!test # as the host deletes
%! y = reshape (1:24, 2, 3, 4);
%! for given = {{1}, {":"}, {[]}, {2, ":"}, {":", 2}, {":", [1 3]}, {":", ":"}, {[1 2]}, {":", true}, {":", [true false true]}, {[], ":"}, ...
%!              {":", []}, {1, 1}, {7}, {":", 4}, {1, ":", ":"}, {":", ":", 2}, {":", 2, ":"}, {1:2, ":"}, {1, [1 2 3]}, {[1 2], 1}, {0}, {1.5}, ...
%!              {int8(1)}, {single(2), ":"}, {":", zeros(1, 0)}, {[2 2], ":"}, {false, ":"}, {logical([1 0 0 1 0 0])}, {3:5}, {[5 1]}}
%!   for s = [array_samples(), {1:6, (1:6)', y}]
%!     ## The host takes a list in order for another thing than a range.
%!     i = given{1}{1};
%!     if (numel (given{1}) == 1 && ! isvector (s{1}) && isnumeric (i) && numel (i) > 1)
%!       continue
%!     endif
%!     alike (@(a) without (a, given{1}{:}), s, true);
%!   endfor
%! endfor
%! alike (@(a) without (a, [1 1]), {5}, true);
%! v = DeviceArray (1:6);
%! v([1 end]) = [];
%! v(v == 3) = [];
%! assert (gather (v), [2 4 5]);
%! v(:,end) = [];
%! assert (gather (v), [2 4]);
%! ## [] in a variable is a value, and no deletion.
%! if (own_type ())
%!   nothing = [];
%!   refused (@() put_at (u, nothing, 1), "size", "");
%! endif

## --- Names ------------------------------------------------------------------------

%!test # a second name keeps the old values, whoever is assigned to
%! v = u;
%! v(2) = 9;
%! assert (gather (u), x);
%! w = v;
%! v(3) = 8;
%! assert (gather (w), put_at (x, 9, 2));
%! w(1,:) = [];
%! assert (gather (v), put_at (put_at (x, 9, 2), 8, 3));
%! r = reshape (v, 3, 2);
%! v(1) = 100;
%! assert (r(1), 3);
%! r(2) = 200;
%! assert (v(2), 9);
%! c = v(:);
%! v(1) = 101;
%! assert (c(1), 100);
%! t = v(:,:);
%! t(1) = 0;
%! assert (v(1), 101);
%! d = double (v);
%! v(1) = 102;
%! assert (d(1), 101);
%! f = @() v(1);
%! v(1) = 103;
%! assert (f (), 102);

%!test # an array assigned to itself
%! v = u;
%! v(:) = v;
%! v(:,:) = v;
%! v(1,:) = v(2,:);
%! v(:,1) = v(:,3);
%! w = x;
%! w(1,:) = w(2,:);
%! w(:,1) = w(:,3);
%! assert (gather (v), w);
%! v(v > 0) = v(v > 0) * 2;
%! w(w > 0) = w(w > 0) * 2;
%! assert (gather (v), w);

%!test # of a matrix, what a mask leaves
%! for m = {x < 0, x > 2, x == 3, x == 9, x != 0, false(2, 3), logical([1 1 0; 0 0 0]), logical([1 0 0; 1 0 0])}
%!   [got, want] = deal (gather (without (DeviceArray (x), m{1})), without (x, m{1}));
%!   assert (got(:), want(:));
%! endfor

%!test # in cells and structs, and what is around them stays
%! c = {u, 1};
%! d = c;
%! c{1}(2) = 50;
%! s.a = u;
%! t = s;
%! s.a(2,:) = 0;
%! assert (gather (c{1}), put_at (x, 50, 2));
%! assert (gather (s.a), [x(1,:); 0 0 0]);
%! assert (gather (d{1}), x);
%! assert (gather (t.a), x);
%! assert (gather (u), x);
%! c{1}(end+1,:) = 1;
%! assert (size (c{1}), [3 3]);
%! c{1}(:,1) = [];
%! assert (size (c{1}), [3 2]);
%! s.b.c{2}.d = u;
%! s.b.c{2}.d(1) = 7;
%! s.b.c{2}.d(end) += 1;
%! assert (gather (s.b.c{2}.d), put_at (put_at (x, 7, 1), 10, 6));
%! q(3).a = u;
%! q(3).a(1,1) = 0;
%! assert (q(3).a(1), 0);
%! assert (gather (u), x);
%! m = containers.Map ();
%! m("u") = u;
%! assert (gather (m("u")), x);

%!function u = zeroed (u, i)
%!  u(i) = 0;
%!endfunction

%!test # in functions: what the caller has stays
%! v = zeroed (u, 1);
%! assert (gather (u), x);
%! v = zeroed (v, 2);
%! assert (gather (v), [0 -1 4; 0 -5 9]);
%! u2 = zeroed (zeroed (u, 3), 4);
%! assert (gather (u2), [3 0 4; 1 0 9]);
%! c = cellfun (@(a) zeroed (a, 1), {u, u}, "UniformOutput", false);
%! assert (gather (c{2}), put_at (x, 0, 1));
%! assert (gather (u), x);

## --- Places without a value, and places of ordinary arrays ------------------------

## Octave calls SUBSASGN with an array of no objects, or with an object that was never made, if the place assigned to
## has no value. A separate process: Octave crashed there once.
%!test # to a name, a field or a cell without a value: an error that names gather, or what an ordinary array gives
%! statements = {"x(1:3) = u", "x(1) = s", "x(2,2) = s", "x(:) = u", "x(:,1) = e", "x(1,1) = u + 1", "x(2) = y(3) = s", ...
%!               "x.a(2:4) = u", "x.a.b(1) = s", "x(2).a(1:3) = u", "x(2).a = u; x(1).a(2) = s", "x(2) = u(1:2)", ...
%!               "x{1}(2) = u", "x{2}{3}(1) = s", "x.a{2}(1:3) = u", "x{2}.f(1:3) = u", "x.a.b{3}.c(2).d(1:3) = u", ...
%!               "x = cell (2); x{1,2}(2).f(3) = u", "x = struct (\"a\", {1, 2}); x(3).a(2) = s", "x([]) = u([])", ...
%!               "[x(1:2), y] = deal (u, s)", "[x.a(1), x.b(2)] = deal (s, s)", "[u(1), y(2)] = deal (1, s)", ...
%!               "global g; g.a(1:3) = u", "global g; g{2}(1:3) = u", "x = setfield (struct (), \"a\", {2}, s)", ...
%!               "x = quantile (2, DeviceArray (2))", "x = []; x(1) = s", "x = []; x(1:3) = u", "x = 1:3; x(2) = s", "x = 1:3; x(:) = u", ...
%!               "x = int8 (1:3); x(2) = s", "x = true (1, 3); x(2:3) = u(1:2)", "x = \"abc\"; x(1) = s", "x = {}; x(1) = u", "x = {}; x(2) = s", ...
%!               "x = builtin (\"subsasgn\", u, substruct (\"()\", {2}), s)", "x = single (1:3); x(:) = u", "x = 1:3; x(u > 1) = 5"};
%! [status, out] = run_octave ({
%!   ["statements = {'" strjoin(strrep (statements, "'", "''"), "', '") "'};"]
%!   "function x = attempt (statement, make)"
%!   "  u = make (1:3); s = make (5); e = make (zeros (0, 3));"
%!   "  eval ([statement ';']);"
%!   "end"
%!   "function x = plain (x)"
%!   "  if (iscell (x)), x = cellfun (@plain, x, 'UniformOutput', false);"
%!   "  elseif (isstruct (x)), x = cellfun (@plain, struct2cell (x), 'UniformOutput', false);"
%!   "  else, x = gather (x); end"
%!   "end"
%!   "for k = 1:numel (statements)"
%!   "  printf ('%s: ', statements{k}); fflush (stdout);"
%!   "  try"
%!   "    x = plain (attempt (statements{k}, @(x) DeviceArray (x)));"
%!   "    y = plain (attempt (statements{k}, @(x) x));"
%!   "    text = {'a WRONG value', 'as the host'}{1 + isequal (x, y)};"
%!   "  catch err, text = err.message; end"
%!   "  printf ('%s\\n', strtok (text, \"\\n\"));"
%!   "end"
%!   "clear -global g"
%!   "clear x y"
%!   "assert (DeviceArray_CUDA ('count'), 0);"
%!   "printf ('done\\n');"});
%! assert (status == 0, "status %d: %s", status, out);
%! lines = strsplit (strtrim (strrep (out, exit_noise (), "")), "\n");
%! assert (numel (lines) == numel (statements) + 1, "%s", out);
%! ## For an object of the class that does not fit, ordinary arrays have their own errors.
%! said = {"gather|as the host$|'object' to indexed|<object>", "gather|as the host$"}{1 + own_type ()};
%! for k = 1:numel (statements)
%!   assert (! isempty (regexp (lines{k}, said, "once")), "%s", lines{k});
%! endfor

%!function set_field (u)
%!  u.id = 3;
%!endfunction

%!function set_cell (u)
%!  u{1} = 3;
%!endfunction

%!function set_deep (u)
%!  u(1).a = 3;
%!endfunction

%!function set_in_cell (u)
%!  u(1){1} = 3;
%!endfunction

%!test # it has elements only
%! for f = {@set_field, @set_cell, @set_deep, @set_in_cell}
%!   refused (@() f{1} (DeviceArray (1)), "unsupported", "u(...) = value");
%! endfor
%! assert (gather (u), x);
