## DeviceArray: other shapes, concatenation, rotated, repeated and shifted arrays, compared with ordinary ones. The
## results stay on the device, also with one element.

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

## --- The same elements in another shape -------------------------------------------

%!test # reshape
%! y = 1:24;
%! d = DeviceArray (y);
%! for c = {{4, 6}, {[4 6]}, {2, 3, 4}, {[2 3 4]}, {24, 1}, {6, 4, 1, 1}, {[], 6}, {4, []}, {2, [], 4}, {1, 1, 24}, ...
%!          {int32(3), []}, {uint8([4 6])}, {single(4), 6}, {int32(4), int32(6)}, {5, 5}, {[], 5}, {[], []}, {[]}, {24}}
%!   alike (@(a) reshape (a, c{1}{:}), {y}, true);
%! endfor
%! for dims = {{0, []}, {[], 0}, {[], 3}, {0, 4}, {5, 0, []}, {0, 5}, {0, 3}, {3, 0}, {0, 0, 7}}
%!   alike (@(a) reshape (a, dims{1}{:}), {zeros(0, 3)}, true);
%! endfor
%! for c = array_classes ()
%!   alike (@(a) reshape (a, 3, 2), {c{1}(x)}, true);
%! endfor
%! alike (@(a) reshape (a, 1, 1), {5}, true);
%! assert (gather (reshape (DeviceArray (ones (2, 3)), int32 (3), int32 (2))), ones (3, 2));
%! refused (@() reshape (d, 5, 5), "size", "1x24 array to 5x5");
%! refused (@() DeviceArray.zeros (2^62), "outOfMemory", "");
%! refused (@() DeviceArray.zeros (1.5), "size", "1.5");
%! assert (gather (d), y);

%!test # squeezed, as a column, as a vector
%! for s = array_samples (true)
%!   alike (@squeeze, s, true);
%!   alike (@vec, s);
%! endfor
%! for size = {[1 1 0], [1 1 1 4], [2 1 1 3], [1 0 1 2], [1 1], [1 2 1 1 3]}
%!   alike (@squeeze, {zeros(size{1})}, true);
%! endfor

## --- Dimensions in another order --------------------------------------------------

%!test # transposed
%! for s = array_samples (true)
%!   if (! takes ("transposed", class (s{1}), s))
%!     continue
%!   endif
%!   alike (@(a) a.', s, true);
%!   alike (@(a) a', s, true);
%!   alike (@transpose, s, true);
%!   alike (@ctranspose, s, true);
%! endfor
%! y = rand (67, 129);
%! alike (@(a) a.', {y}, true);
%! alike (@(a) a'(:,2), {y});
%! refused (@() DeviceArray (ones (2, 2, 2)).', "dimension", "permute");

%!test # permute
%! for s = array_samples (true)
%!   for order = {[1 2], [2 1], [1 2 3], [2 1 3], [3 1 2], [2 3 1], [3 2 1], [1 3 2], [4 1 3 2], [1 2 3 4 5]}
%!     if (takes ("permute", class (s{1}), s, order))
%!       alike (@(a) permute (a, order{1}), s, true);
%!       alike (@(a) ipermute (a, order{1}), s, true);
%!     endif
%!   endfor
%! endfor
%! y = rand (5, 6, 7, 3);
%! for order = {[4 3 2 1], [2 1 4 3], [1 3 2 4], [3 4 1 2]}
%!   alike (@(a) permute (a, order{1}), {y}, true);
%! endfor
%! alike (@(a) permute (a, int8 ([2 1])), {x}, true);
%! for bad = {[1 1], [0 1], [1 3], [1 2 2]}
%!   refused (@() permute (u, bad{1}), "dimension", "permute");
%! endfor

%!test # flipped and turned
%! for s = array_samples (true)
%!   if (! takes ("flipped", class (s{1}), s))
%!     continue
%!   endif
%!   alike (@flip, s, true);
%!   for dim = 1:3
%!     alike (@(a) flip (a, dim), s, true);
%!   endfor
%!   alike (@fliplr, s, true);
%!   alike (@flipud, s, true);
%!   if (ndims (s{1}) == 2)
%!     alike (@rot90, s, true);
%!     for k = -2:5
%!       alike (@(a) rot90 (a, k), s, true);
%!     endfor
%!   endif
%! endfor

%!test # shifted round
%! for s = array_samples (true)
%!   for n = [0 1 -1 2 7]
%!     if (! takes ("shifted", class (s{1}), s, n))
%!       continue
%!     endif
%!     alike (@(a) circshift (a, n), s, true);
%!     for dim = 1:2
%!       alike (@(a) circshift (a, n, dim), s, true);
%!     endfor
%!   endfor
%! endfor
%! alike (@(a) circshift (a, 2^53), {1:3}, true);
%! alike (@(a) rot90 (a, 2^60 + 2), {x}, true);
%! alike (@(a) circshift (a, [1 1]), {x}, true);
%! alike (@(a) circshift (a, [1 0 2]), {reshape(1:24, 2, 3, 4)}, true);
%! alike (@(a) circshift (a, 1, 3), {reshape(1:24, 2, 3, 4)}, true);

%!test # counts, shifts and orders are ordinary numbers
%! for f = {@() repmat(2, u), @() repmat(u, u), @() circshift(u, DeviceArray (1)), @() flip(u, DeviceArray (1)), @() cat(DeviceArray (1), x, x), ...
%!          @() rot90(u, DeviceArray (1)), @() permute(x, DeviceArray ([2 1])), @() zeros(DeviceArray (2), 1), @() reshape(u, DeviceArray ([3 2]))}
%!   refused (f{1}, "", "gather");
%! endfor

## --- Repeated, joined, cut --------------------------------------------------------

%!test # repmat
%! for s = array_samples (true)
%!   for times = {{1}, {2}, {2, 3}, {[2 3]}, {0, 2}, {[2 1 3]}, {2, 1, 2}, {1, 1}, {int8(2), 1}, {-1, 2}}
%!     if (takes ("repmat", class (s{1}), s, times))
%!       alike (@(a) repmat (a, times{1}{:}), s, true);
%!     endif
%!   endfor
%! endfor
%! assert (gather (repmat (DeviceArray (5), 2, 3)), 5 * ones (2, 3));

%!function list = joined_samples ()
%!  list = {{[1 2], 3}, {[1 2]}, {[1; 2], [3 4; 5 6]}, {[], 1}, {zeros(1, 0), [1 2; 3 4]}, {single(1), 2}, {true, false}, {true, 2}, ...
%!          {true, single(2)}, {int8(5), 300}, {uint8(200), int8(-1)}, {uint8(200), int8(-1), 3}, {1:3, 1:2}, {ones(2, 3, 2), ones(2, 3)}, ...
%!          {ones(2, 2), ones(2, 2, 2)}, {zeros(0, 3), ones(1, 3)}, {[], []}, {single([]), 1}, {ones(2, 3), zeros(2, 0)}, ...
%!          {zeros(0, 3), zeros(0, 2)}, {[3 -1 4; 1 -5 9], [7 8 9]}, {[3 -1 4; 1 -5 9], [7; 8]}, {[], [], 5}, {int8([1 2]), [], true}, ...
%!          {zeros(0, 3), zeros(3, 0)}, {5, 5}, {[], single(5)}, {int8([]), 5}, {true(0, 3), 1}};
%!endfunction

%!test # brackets
%! for l = joined_samples ()
%!   alike (@(varargin) [varargin{:}], l{1}, true);
%!   alike (@(varargin) vertcat (varargin{:}), l{1}, true);
%!   alike (@horzcat, l{1}, true);
%!   if (numel (l{1}) == 2)
%!     alike (@(a, b) [a; b], l{1}, true);
%!     alike (@(a, b) [a, b], l{1}, true);
%!     alike (@(a, b) [a, b; a, b], l{1}, true);
%!     ## Only the first row shows which class of integers came first.
%!     if (! (isinteger (l{1}{1}) && isinteger (l{1}{2})))
%!       alike (@(a, b) [a b; b a], l{1}, true);
%!     endif
%!   endif
%! endfor
%! alike (@(a) [a], {x}, true);
%! alike (@(a) [a, 1], {7}, true);
%! alike (@(a) [a; 1], {zeros(1, 0)}, true);
%! alike (@(a) [1, a, 2; a, 3, 4], {5}, true);
%! for bad = {{1}, "abc", 1i, sparse(1), int64(1), struct()}
%!   fail ("[u(1,:), bad{1}]");
%!   fail ("[bad{1}; u]");
%! endfor

%!test # cat
%! for l = joined_samples ()
%!   for dim = 1:4
%!     ## CAT leaves out other empty arrays than the host's, and so do brackets.
%!     if (any (cellfun (@isempty, l{1})))
%!       continue
%!     endif
%!     alike (@(varargin) cat (dim, varargin{:}), l{1}, true);
%!   endfor
%! endfor
%! refused (@() cat (0, u, u), "dimension", "");
%! refused (@() cat (1, u, [1 2]), "size", "");
%! refused (@() cat (2^31, u, u), "dimension", "2147483648");
%! refused (@() cat (1, u, "abc"), "dataType", "char");

%!testif ; own_type ()  # a row of numbers, and what does not go together in brackets
%! alike (@(a) [1 2 3; a], {x}, true);
%! alike (@(a) [single(1) 2 3; a; true true false], {x}, true);
%! refused (@() [1 2 3 4; u], "size", "1x4 vs 2x3");
%! refused (@() [u, [1; 2; 3]], "size", "2x3 vs 3x1");
%! refused (@() [u, int64(3)], "dataType", "int64");
%! refused (@() [u; "abc"] + 1, "dataType", "char");
%! refused (@() {[u, "a"]}{1}, "dataType", "char");
%! refused (@() cell2mat ({u, u}), "dimension", "[c{:}]");

%!test # diagonals
%! for s = array_samples (true)
%!   if (ndims (s{1}) == 2 && takes ("diagonals", class (s{1}), s))
%!     kept = isvector (s{1});
%!     alike (@diag, s, kept);
%!     for k = -3:3
%!       alike (@(a) diag (a, k), s, kept);
%!     endfor
%!   endif
%! endfor
%! assert (gather (diag (DeviceArray ([1 2 3]), 3, 4)), full (diag ([1 2 3], 3, 4)));
%! alike (@trace, {x});
%! refused (@() diag (DeviceArray (ones (2, 2, 2))), "dimension", "2x2x2");

%!test # triangles
%! for s = array_samples (true)
%!   if (ndims (s{1}) == 2 && ! isempty (s{1}) && takes ("triangles", class (s{1}), s))
%!     alike (@triu, s, true);
%!     alike (@tril, s, true);
%!     for k = -3:3
%!       alike (@(a) triu (a, k), s, true);
%!       alike (@(a) tril (a, k), s, true);
%!     endfor
%!   endif
%! endfor
%! alike (@triu, {[NaN Inf; NaN Inf]}, true);
%! fail ("triu (DeviceArray (ones (2, 2, 2)))");

%!test # functions of the host that are made of these
%! for f = {@(a) kron([1 2], 1) .* a(1), @(a) postpad(a, 5), @(a) prepad(a, 5), @(a) trapz(a), @(a) cumsum(flip (a)), @(a) nnz(a > 1), ...
%!          @(a) circshift(a.', 1).', @(a) bsxfun(@plus, a, 1), @(a) deal(a)}
%!   want = f{1} (x);
%!   try
%!     got = gather (f{1} (u));
%!     assert (got, want);
%!   catch err
%!     assert (! isempty (strfind (err.message, "gather")), "%s: %s", func2str (f{1}), err.message);
%!   end_try_catch
%! endfor
