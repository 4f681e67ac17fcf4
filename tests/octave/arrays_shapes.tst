## DeviceArray: what joins, turns and cuts arrays, statistics, and classes, beside the same on ordinary arrays.

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

%!function list = samples ()
%!  x = [3 -1 4; 1 -5 9];
%!  list = {5, [1 2 3], [1; 2; 3], x, single(x), reshape(1:24, 2, 3, 4), [], zeros(1, 0), zeros(0, 3), zeros(2, 0, 3), ...
%!          int8([100 -7 3]), x > 0, uint16(magic (4)), [1 NaN -Inf; Inf 0 -0]};
%!endfunction

## f gives the same of arrays on the device as of ordinary ones: value to some units in the last place, size, class. What
## has one element may be an ordinary number; all else stays on the device.
%!function like (f, varargin)
%!  want = f (varargin{:});
%!  arrays = cellfun (@(v) DeviceArray (v), varargin, "UniformOutput", false);
%!  got = f (arrays{:});
%!  what = [func2str(f) " of " class(varargin{1}) " " mat2str(size (varargin{1}))];
%!  assert (isa (got, "DeviceArray") || isscalar (want), "%s is an ordinary array", what);
%!  got = gather (got);
%!  assert (strcmp (class (got), class (want)) && isequal (size (got), size (want)), "%s: %s %s, not %s %s", what, ...
%!          class (got), mat2str (size (got)), class (want), mat2str (size (want)));
%!  a = double (got(:));
%!  b = double (want(:));
%!  near = isfloat (want) & abs (a - b) <= 16 * eps ({"double", "single"}{1 + isa(want, "single")}) * abs (b);
%!  assert (all (a == b | isnan (a) & isnan (b) | near), "%s: %s, not %s", what, mat2str (a.', 17), mat2str (b.', 17));
%!endfunction

%!function refuses (f, id, word)
%!  caught = [];
%!  try
%!    f ();
%!  catch caught
%!  end_try_catch
%!  assert (! isempty (caught), "no error of %s", func2str (f));
%!  assert (strcmp (caught.identifier, ["DeviceArray:" id]) && ! isempty (strfind (caught.message, word)), "%s: <%s> %s", ...
%!          func2str (f), caught.identifier, caught.message);
%!endfunction

%!function x = without (x, varargin)
%!  x(varargin{:}) = [];
%!endfunction

%!function x = with (x, value, varargin)
%!  x(varargin{:}) = value;
%!endfunction

## --- Joining and cutting ----------------------------------------------------------

%!test # brackets and their functions
%! for v = samples ()
%!   for f = {@(a) [a, a], @(a) [a; a], @(a) cat(3, a, a), @(a) horzcat(a, a), @(a) vertcat(a), @(a) [a, a; a, a]}
%!     like (f{1}, v{1});
%!   endfor
%! endfor
%! for f = {@(a) [a, x], @(a) [x; a], @(a) [1; 2](:, ones (1, 2))(:,1) + a, @(a) [a, single(x)], @(a) [int8(x); a], ...
%!          @(a) [a(1,:); a], @(a) [a, [1; 2]], @(a) [[], a], @(a) [a, zeros(2, 0)]}
%!   like (f{1}, x);
%! endfor
%! refuses (@() horzcat (u, [1 2]), "size", "horizontal");
%! refuses (@() vertcat (u, [1 2]), "size", "vertical");
%! ## Of a class, Octave says of brackets only that they failed.
%! fail ("[u, [1 2]]", "horz");
%! fail ("[u; [1 2]]", "vert");
%! refuses (@() cat (DeviceArray (1), x, x), "unsupported", "gather");

%!test # growth and deletion by assignment
%! for f = {@(a) without(a, 1, ":"), @(a) without(a, ":", [1 3]), @(a) without(a, ":", x(1,:) > 3), @(a) without(a, []), ...
%!          @(a) with(a, 7, 3, 5), @(a) with(a, [1 2 3], 4, ":"), @(a) with(a, 8, 2, 2, 2), @(a) with(a, 0, ":"), ...
%!          @(a) with(a, 5, x > 2), @(a) with(a, [1; 2], ":", 4)}
%!   like (f{1}, x);
%! endfor
%! like (@(a) without (a, [2 3]), 1:5);
%! like (@(a) with (a, 9, 8), 1:5);
%! v = u;
%! v(v > 2) = -1;
%! assert (gather (v), with (x, -1, x > 2));
%! v(:,end+1) = [1; 2];
%! assert (gather (v)(:,end), [1; 2]);
%! assert (gather (u), x);

%!test # turned, repeated, moved on
%! for v = samples ()
%!   for f = {@(a) flip(a), @(a) flip(a, 2), @(a) permute(a, [2 3 1]), @(a) ipermute(a, [2 3 1]), @(a) repmat(a, 2), ...
%!            @(a) repmat(a, 2, 3), @(a) repmat(a, [1 2 2]), @(a) repmat(a, 0, 1), @(a) circshift(a, 1), @(a) squeeze(a), ...
%!            @(a) circshift(a, -2, 2), @(a) fliplr(a), @(a) flipud(a)}
%!     like (f{1}, v{1});
%!   endfor
%!   if (ndims (v{1}) == 2)
%!     for f = {@(a) a.', @(a) a', @(a) rot90(a), @(a) rot90(a, -1), @(a) rot90(a, 2)}
%!       like (f{1}, v{1});
%!     endfor
%!     if (! isempty (v{1}))
%!       for f = {@(a) triu(a), @(a) tril(a), @(a) triu(a, 1), @(a) tril(a, -1)}
%!         like (f{1}, v{1});
%!       endfor
%!     endif
%!   endif
%! endfor
%! like (@(a) circshift (a, [1 1]), x);
%! like (@(a) repmat (a, int8 (2), 1), x);
%! ## Counts and shifts are ordinary numbers.
%! for f = {@() repmat(2, u), @() repmat(u, u), @() circshift(u, DeviceArray (1)), @() flip(u, DeviceArray (1)), ...
%!          @() rot90(u, DeviceArray (1)), @() permute(x, DeviceArray ([2 1])), @() zeros(DeviceArray (2), 1)}
%!   refuses (f{1}, "unsupported", "gather");
%! endfor

%!test # differences
%! for v = samples ()
%!   for f = {@(a) diff(a, 1, 2), @(a) diff(a, 2, 2), @(a) diff(a, [], 1), @(a) diff(a)}(1:3 + ! isempty (v{1}))
%!     like (f{1}, v{1});
%!   endfor
%! endfor

## --- Statistics -------------------------------------------------------------------

%!test # means, variances, standard deviations
%! for v = samples ()
%!   ## What is left of nothing is another thing in each version of Octave.
%!   for f = {@(a) mean(a), @(a) mean(a, 1), @(a) mean(a, 2), @(a) mean(a(:))}(1:4 * ! isempty (v{1}))
%!     like (f{1}, v{1});
%!   endfor
%!   if (isfloat (v{1}) && all (isfinite (v{1}(:))) && ! isempty (v{1}))
%!     for f = {@(a) var(a), @(a) std(a), @(a) var(a, 1), @(a) std(a, [], 2), @(a) var(a, 0, 1), @(a) var(a(:))}
%!       like (f{1}, v{1});
%!     endfor
%!   endif
%! endfor
%! assert (mean (u, "all"), mean (x(:)), eps);
%! assert (std (u, 0, "all"), std (x(:)), 4 * eps);
%! assert (std (DeviceArray (int8 ([1 2 3]))), 1);
%! refuses (@() var (u, [1 2]), "unsupported", "gather");
%! refuses (@() mean (u, "omitnan"), "dimension", "dimension");
%! refuses (@() sum (u, 1, "native"), "unsupported", "gather");
%! refuses (@() sum (u, [1 2]), "dimension", "dimension");

%!test # products, running sums and products
%! for v = samples ()
%!   for f = {@(a) prod(a), @(a) prod(a, 2), @(a) cumsum(a), @(a) cumsum(a, 2), @(a) cumprod(a), @(a) cumprod(a, 1)}
%!     if (isfloat (v{1}) || islogical (v{1}))
%!       like (f{1}, v{1});
%!     endif
%!   endfor
%! endfor
%! assert (prod (u, "all"), prod (x(:)));
%! refuses (@() cumsum (u, "all"), "dimension", "cumsum");

## Several outputs in a list.
%!function list = outputs (f, n, varargin)
%!  list = cell (1, n);
%!  [list{:}] = f (varargin{:});
%!endfunction

%!function all_like (f, n, varargin)
%!  want = outputs (f, n, varargin{:});
%!  got = outputs (f, n, cellfun (@(v) DeviceArray (v), varargin, "UniformOutput", false){:});
%!  for k = 1:n
%!    assert (isa (got{k}, "DeviceArray") || isscalar (want{k}), "%s: output %d", func2str (f), k);
%!    assert (isequaln (gather (got{k}), want{k}) && isequal (size (got{k}), size (want{k})), "%s: output %d: %s, not %s", ...
%!            func2str (f), k, mat2str (gather (got{k})), mat2str (want{k}));
%!  endfor
%!endfunction

%!test # where the largest and the smallest are, in order, and not zero
%! for v = samples ()
%!   if (! isempty (v{1}) && isfloat (v{1}))
%!     for f = {@(a) max(a), @(a) min(a), @(a) max(a, [], 2), @(a) min(a, [], 1), @(a) sort(a), @(a) sort(a, 2), ...
%!              @(a) sort(a, 2, "descend"), @(a) sort(a, "descend")}
%!       all_like (f{1}, 2, v{1});
%!       all_like (f{1}, 1, v{1});
%!     endfor
%!   endif
%!   if (ndims (v{1}) == 2 && ! isempty (v{1}))
%!     for n = 1:3
%!       all_like (@(a) find (a), n, v{1});
%!       all_like (@(a) find (a, 2), n, v{1});
%!       all_like (@(a) find (a, 2, "last"), n, v{1});
%!     endfor
%!   endif
%! endfor
%! refuses (@() sort (u, "up"), "option", "ascend");
%! refuses (@() find (u, 0), "option", "find");

%!test # medians
%! for v = {5, [1 2 3], [4 1 2 3], [1; 9; 2], x, single(x), magic(4), [1 NaN 2; 5 6 7], [Inf 1 2]}
%!   for f = {@(a) median(a), @(a) median(a, 1), @(a) median(a, 2), @(a) median(a(:))}
%!     like (f{1}, v{1});
%!   endfor
%! endfor
%! assert (median (u, "all"), median (x(:)));

%!test # whole numbers and what is left
%! y = [-2.5 -1.5 -0.5 0 0.49999999999999994 0.5 1.5 2.5 1e17 NaN -Inf Inf];
%! for f = {@floor, @ceil, @round, @fix, @sign}
%!   like (f{1}, y);
%!   like (f{1}, single (y));
%!   like (f{1}, int8 ([-3 0 7]));
%! endfor
%! for f = {@mod, @rem}
%!   for n = {3, -3, 0, 0.1, [1 2 3 4 5 6 7 8 9]}
%!     like (@(a) f{1} (a, n{1}), y(1:9));
%!   endfor
%!   like (f{1}, [5 -5 7.5], [3 3 -2]);
%! endfor

## --- Classes ----------------------------------------------------------------------

%!test # there and back, and from each to each
%! classes = {@double, @single, @logical, @int8, @int16, @int32, @uint8, @uint16, @uint32};
%! for c = classes
%!   y = c{1} ([0 1 2; 100 1.6 -7]);
%!   d = DeviceArray (y);
%!   assert (underlyingType (d), class (y));
%!   for f = {@isfloat, @isnumeric, @islogical, @isinteger, @isreal}
%!     assert (f{1} (d) == f{1} (y), "%s of %s", func2str (f{1}), class (y));
%!   endfor
%!   for to = classes
%!     like (to{1}, y);
%!   endfor
%!   like (@(a) cast (a, "single"), y);
%!   assert (underlyingType (zeros (2, 2, "like", d)), class (y));
%!   assert (gather (DeviceArray.ones (2, class (y))), ones (2, class (y)));
%!   assert (isequal (d, y) && isequal (d, double (y)) && ! isequal (d, double (y) + 1));
%! endfor
%! for to = {@int64, @uint64}
%!   refuses (@() to{1} (u), "dataType", func2str (to{1}));
%! endfor
%! refuses (@() logical (DeviceArray (NaN)), "dataType", "NaN");
%! refuses (@() norm (DeviceArray (int8 ([3 4]))), "unsupported", "int8");

%!test # truth values
%! t = u > 0;
%! assert (underlyingType (t), "logical");
%! assert (gather (t), x > 0);
%! assert (gather (t & ! t), false (2, 3));
%! assert (gather (t + t), (x > 0) * 2);
%! assert (gather (sum (t)), sum (x > 0));
%! assert (nnz (t), nnz (x > 0));
%! if (any (t(:)))
%!   reached = true;
%! endif
%! assert (reached);

%!test # arithmetic of integers saturates and rounds as the host's
%! a = int8 ([100 -100 7]);
%! for f = {@(v) v + v, @(v) v * 2.5, @(v) v / 2, @(v) -v, @(v) v .* v, @(v) v - 200, @(v) v .^ 2, @(v) abs(v), @(v) max(v), ...
%!          @(v) v > 7, @(v) min(v, 3)}
%!   like (f{1}, a);
%! endfor
%! refuses (@() DeviceArray (a) + int16 (1), "dataType", "int16");

%!test # one element works as a condition, an index and a text
%! s = sum (u(:));
%! if (s > 0)
%!   text = sprintf ("%d", s);
%! endif
%! assert (text, "11");
%! assert ((1:20)(sum (u(:))), 11);
%! n = 0;
%! while (max (u(:)) > n)
%!   n++;
%! endwhile
%! assert (n, 9);
