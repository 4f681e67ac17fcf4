## DeviceArray: what each method gives, beside the same on ordinary arrays, and
## what it refuses. How long arrays live is in arrays_life.tst.

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

## Sizes and classes that a method may treat differently.
%!function list = samples ()
%!  x = [3 -1 4; 1 -5 9];
%!  list = {5, [1 2 3], [1; 2; 3], x, single(x), reshape(1:24, 2, 3, 4), single([2 -7]), ...
%!          [], zeros(1, 0), zeros(0, 1), zeros(0, 3), zeros(3, 0), zeros(2, 0, 3), ...
%!          reshape(1:3, 1, 1, 3), reshape(1:6, 1, 2, 3), [1 NaN -Inf; Inf 0 -0]};
%!endfunction

## The call ends in an error of that identifier ("" for any of ours), with that word
## in its text, and the array u0 can still be used.
%!function refuses (f, id, word)
%!  caught = [];
%!  try
%!    f ();
%!  catch caught
%!  end_try_catch
%!  assert (! isempty (caught), "no error of %s", func2str (f));
%!  prefix = ["DeviceArray:" id];
%!  assert (strncmp (caught.identifier, prefix, numel (prefix)), ...
%!          "%s: expected %s, got <%s> %s", func2str (f), prefix, caught.identifier, caught.message);
%!  assert (isempty (word) || ! isempty (strfind (caught.message, word)), ...
%!          "%s: no <%s> in <%s>", func2str (f), word, caught.message);
%!endfunction

## The text of an error: Octave's own, or, where a later Octave asks the class, ours; "" where there is none.
%!function text = said (f)
%!  text = "";
%!  try
%!    f ();
%!  catch err
%!    text = err.message;
%!  end_try_catch
%!endfunction

## f gives the same of arrays on the device as of ordinary ones: value, size, class. What has one element may be an
## ordinary number; all else stays on the device.
%!function like (f, varargin)
%!  want = f (varargin{:});
%!  arrays = cellfun (@(v) DeviceArray (v), varargin, "UniformOutput", false);
%!  got = f (arrays{:});
%!  assert (isa (got, "DeviceArray") || isscalar (want), "%s of %s is an ordinary array", func2str (f), disp_ (varargin));
%!  got = gather (got);
%!  assert (strcmp (class (got), class (want)) && isequal (size (got), size (want)), "%s of %s: %s", func2str (f), ...
%!          disp_ (varargin), disp_ ({got, want}));
%!  assert (isequaln_ (got, want), "%s of %s: %s against %s", func2str (f), disp_ (varargin), ...
%!          mat2str (got(:).', 17), mat2str (want(:).', 17));
%!endfunction

%!function yes = isequaln_ (a, b)
%!  a = a(:);
%!  b = b(:);
%!  yes = all (a == b | (isnan (a) & isnan (b)));
%!endfunction

%!function text = disp_ (list)
%!  text = strjoin (cellfun (@(v) [class(v) " " mat2str(size (v))], list, "UniformOutput", false), ", ");
%!endfunction

## --- Making, gathering, asking --------------------------------------------------

%!test # there and back
%! for s = samples ()
%!   d = DeviceArray (s{1});
%!   assert (class (d), "DeviceArray");
%!   assert (isobject (d));
%!   y = gather (d);
%!   assert (class (y), class (s{1}));
%!   assert (size (y), size (s{1}));
%!   assert (isequaln_ (y, s{1}));
%!   assert (underlyingType (d), class (s{1}));
%!   assert (isUnderlyingType (d, class (s{1})));
%!   assert (! isUnderlyingType (d, "int8"));
%! endfor
%! ## A range is stored without its elements.
%! assert (gather (DeviceArray (1:4)), [1 2 3 4]);

%!test # zeros and ones take sizes as the host's do
%! cases = {{}, {3}, {2, 3}, {[2 3]}, {2, 3, 4}, {[2 3 4]}, {0}, {-1, 2}, {3, 1, 1}, {2, "single"}, ...
%!          {2, 3, "double"}, {[2 3], "single"}, {"single"}, {int8(2), 3}};
%! for c = cases
%!   for f = {"zeros", "ones"}
%!     got = gather (DeviceArray.(f{1}) (c{1}{:}));
%!     want = feval (f{1}, c{1}{:});
%!     assert (got, want);
%!     assert (class (got), class (want));
%!   endfor
%! endfor
%! assert (gather (DeviceArray.ones (2, 3, "single", "Backend", "cpu")), ones (2, 3, "single"));
%! assert (gather (DeviceArray.zeros (2, "Backend", "cpu")), zeros (2));

%!test # options, and the device as a number
%! assert (device (DeviceArray (1, "Backend", "cpu")), 0);
%! n = device (u);
%! assert (isa (n, "double") && isscalar (n) && n >= 0 && n == fix (n));
%! assert (u.device (), n);

%!test # what the constructor refuses
%! for bad = {int64(1), "abc", {1}, struct(), 1i, sparse(1), uint64([1 2]), @sin}
%!   f = @() gather (DeviceArray (bad{1}));
%!   refuses (f, "", "");
%! endfor
%! if (! own_type ())
%!   refuses (@() DeviceArray (), "numberOfInputs", "DeviceArray");
%! endif
%! refuses (@() DeviceArray (1, "Colour", 1), "option", "");
%! refuses (@() DeviceArray (1, "Backend"), "numberOfInputs", "");
%! refuses (@() DeviceArray (uint64 (1), "Backend", "cpu"), "dataType", "uint64");
%! refuses (@() DeviceArray.zeros (2, 2, "int64"), "dataType", "int64");
%! refuses (@() DeviceArray.zeros (2, "Backend"), "numberOfInputs", "");
%! ## To the class, a number that no array waits for: whatever is done with it is refused.
%! if (own_type ())
%!   refuses (@() DeviceArray (intmax ("uint64")), "dataType", "uint64");
%! else
%!   ghost = DeviceArray (intmax ("uint64"));
%!   refuses (@() gather (ghost), "", "");
%!   refuses (@() ghost + 1, "", "");
%!   clear ghost
%! endif
%! assert (gather (u), x);

%!test # questions about class and size, as of ordinary arrays
%! for s = samples ()
%!   d = DeviceArray (s{1});
%!   for f = {"numel", "ndims", "rows", "columns", "length", "isempty", "isscalar", "isvector", "isrow", ...
%!            "iscolumn", "ismatrix", "issquare", "isreal", "isfloat", "isnumeric", "size"}
%!     got = feval (f{1}, d);
%!     want = feval (f{1}, s{1});
%!     assert (isequal (got, want) && strcmp (class (got), class (want)), "%s of %s: %s against %s", ...
%!             f{1}, mat2str (size (s{1})), mat2str (got), mat2str (want));
%!   endfor
%!   assert (! islogical (d) && ! ischar (d) && ! iscell (d) && ! isstruct (d) && ! iscomplex (d) && ! issparse (d));
%!   assert (! isa (d, "double") && isa (d, "DeviceArray"));
%! endfor

%!test # size in all its forms
%! for s = samples ()
%!   d = DeviceArray (s{1});
%!   for n = 1:5
%!     got = want = cell (1, n);
%!     [got{:}] = size (d);
%!     [want{:}] = size (s{1});
%!     assert (got, want);
%!   endfor
%!   for asked = {{1}, {2}, {3}, {7}, {[1 2]}, {[3 1]}, {1, 2}, {2, 2, 5}}
%!     assert (size (d, asked{1}{:}), size (s{1}, asked{1}{:}));
%!   endfor
%! endfor
%! [a, b] = size (u, [2 1]);
%! assert ([a b], [3 2]);
%! [a, b] = size (u, 2, 3);
%! assert ([a b], [3 1]);
%! for bad = {0, -1, 1.5, "a", {}}
%!   assert (! isempty (said (@() size (u, bad{1}))));
%! endfor
%! fail ("[a, b] = size (u, 1)", "outputs|nargout");

## --- Arithmetic -----------------------------------------------------------------

%!test # one operand
%! for s = samples ()
%!   for f = {@(a) -a, @(a) +a, @abs, @(a) ! a, @isnan, @isinf, @isfinite, @double, @single, @(a) a(:)}
%!     if (! (any (isnan (s{1}(:))) && strcmp (func2str (f{1}), "@(a) !a")))
%!       like (f{1}, s{1});
%!     endif
%!   endfor
%!   like (@(a) sqrt (abs (a)), s{1});
%! endfor
%! assert (isnan (gather (sqrt (DeviceArray (-1)))));

%!test # whole powers
%! for k = -16:16
%!   got = gather (DeviceArray ([1 2 -2 0.5 0; -0.25 1 4 8 -1]) .^ k);
%!   assert (got, [1 2 -2 0.5 0; -0.25 1 4 8 -1] .^ k);
%! endfor
%! assert (class (gather (DeviceArray (single (3)) .^ 2)), "single");

%!test # two operands: both on the device, or either of them; single wins; sizes expand
%! operators = {@plus, @minus, @times, @rdivide, @ldivide, @min, @max, @eq, @ne, @lt, @le, @gt, @ge, @and, @or};
%! pairs = {x, x + 1; x, 2; 3, x; [1 2 3], [1; 2]; x, [1; 2]; [1 2 3], x; x, single(2); single(x), x; single(2), x; ...
%!          zeros(0, 3), [1 2 3]; [], 1; [], []; reshape(1:6, 1, 2, 3), [1; 2]; 0, 0; [1 NaN 3], [NaN 1 3]};
%! for k = 1:rows (pairs)
%!   [a, b] = pairs{k,:};
%!   for f = operators
%!     nans = any (isnan ([a(:); b(:)]));
%!     if (nans && any (strcmp (func2str (f{1}), {"and", "or"})))
%!       continue;
%!     endif
%!     want = f{1} (a, b);
%!     for operands = {{DeviceArray(a), DeviceArray(b)}, {DeviceArray(a), b}, {a, DeviceArray(b)}}
%!       got = f{1} (operands{1}{:});
%!       assert (isa (got, "DeviceArray"), ! isscalar (want));
%!       got = gather (got);
%!       assert (class (got), class (want));
%!       assert (size (got), size (want));
%!       assert (isequaln_ (got, want), "%s of %s", func2str (f{1}), disp_ ({a, b}));
%!     endfor
%!   endfor
%! endfor

%!test # truth values of the host are operands
%! mask = x > 0;
%! assert (gather (u .* mask), x .* mask);
%! assert (gather (mask .* u), x .* mask);
%! assert (gather (u & mask), x & mask);
%! assert (gather (true + u), x + 1);

%!test # products and quotients with scalars
%! d = DeviceArray (4);
%! for got = {2 * u, u * 2, u * DeviceArray(2), DeviceArray(2) * u}
%!   assert (gather (got{1}), 2 * x);
%! endfor
%! assert (gather (u / 2), x / 2);
%! assert (gather (u / d), x / 4);
%! assert (gather (4 \ u), x / 4);
%! assert (gather (d \ u), x / 4);
%! assert (gather (d * [1 2 3]), [4 8 12]);
%! assert (gather ([1 2 3] * d), [4 8 12]);
%! assert (gather (d * d), 16);
%! assert (class (gather (single (2) * u)), "single");
%! refuses (@() u * u, "unsupported", "gather");
%! refuses (@() u * [1; 2; 3], "unsupported", "gather");
%! refuses (@() [1 2] * u, "unsupported", "gather");
%! refuses (@() u / u, "unsupported", "gather");
%! refuses (@() 2 / u, "unsupported", "gather");
%! refuses (@() u \ u, "unsupported", "gather");
%! refuses (@() u \ 2, "unsupported", "gather");

%!test # operators that assign
%! v = u;
%! v += 1;
%! v *= 2;
%! v .*= v;
%! v -= u;
%! assert (gather (v), ((x + 1) * 2) .^ 2 - x);
%! assert (gather (u), x);

%!test # powers that are not there
%! refuses (@() u .^ 0.5, "unsupported", "gather");
%! refuses (@() u .^ 17, "unsupported", "gather");
%! refuses (@() u .^ -17, "unsupported", "gather");
%! refuses (@() u .^ [1 2 3], "unsupported", "gather");
%! refuses (@() u .^ u, "unsupported", "gather");
%! refuses (@() 2 .^ u, "unsupported", "gather");
%! refuses (@() u .^ NaN, "unsupported", "gather");
%! refuses (@() u ^ 2, "unsupported", "gather");
%! refuses (@() 2 ^ u, "unsupported", "gather");

%!test # operands that do not go together
%! for f = {@plus, @minus, @times, @rdivide, @min, @max, @eq, @lt, @and, @or}
%!   refuses (@() f{1} (u, [1 2]), "size", "");
%!   refuses (@() f{1} ([1 2], u), "size", "");
%!   refuses (@() f{1} (u, DeviceArray ([1 2])), "size", "");
%!   for bad = {1i, sparse(1), int64(1)}
%!     refuses (@() f{1} (u, bad{1}), "", "");
%!   endfor
%!   for bad = {{1}, struct()}
%!     assert (! isempty (said (@() f{1} (u, bad{1}))));
%!   endfor
%! endfor

## --- Reductions -----------------------------------------------------------------

%!test # sum, any, all, min, max: of everything, along each dimension, of empties
%! for s = samples ()
%!   for f = {@sum, @any, @all}
%!     ## To Octave's ALL, NaN is a zero along the rows of a matrix only.
%!     if (any (isnan (s{1}(:))) && strcmp (func2str (f{1}), "all"))
%!       continue;
%!     endif
%!     like (f{1}, s{1});
%!     for dim = 1:4
%!       like (@(a) f{1} (a, dim), s{1});
%!     endfor
%!     like (@(a) f{1} (a(:)), s{1});
%!   endfor
%!   for f = {@min, @max}
%!     like (f{1}, s{1});
%!     for dim = 1:4
%!       like (@(a) f{1} (a, [], dim), s{1});
%!     endfor
%!   endfor
%! endfor
%! assert (sum (DeviceArray ([1 NaN])), NaN);
%! assert (islogical (any (u(:))) && islogical (all (u, "all")) && isa (sum (u(:)), "double"));
%! assert (underlyingType (sum (single (u))), "single");

%!test # NaN counts for nothing in any
%! for class = {@double, @single}
%!   y = class{1} ([0 NaN 0; NaN NaN 1]);
%!   like (@any, y);
%!   like (@(a) any (a, 2), y);
%!   like (@(a) any (a, 3), y);
%!   assert (any (DeviceArray (y(1,:))), false);
%!   assert (any (DeviceArray (y(1,:)), "all"), false);
%!   assert (any (DeviceArray (class{1} (NaN))), false);
%!   assert (any (DeviceArray ([NaN, class{1}(zeros (1, 5000)), -1])), true);
%!   assert (any (DeviceArray ([NaN, class{1}(zeros (1, 5000))])), false);
%! endfor

%!test # over all elements at once
%! assert (sum (u, "all"), sum (x(:)));
%! assert (any (u, "all"), true);
%! assert (all (u > 0, "all"), false);
%! assert (max (u, [], "all"), 9);
%! assert (min (u, [], "all"), -5);
%! assert (sum (DeviceArray (zeros (0, 3)), "all"), 0);
%! assert (all (DeviceArray (zeros (0, 3)), "all"), true);

%!test # a condition
%! if (all (all (u < 10)))
%!   reached = true;
%! endif
%! assert (reached);

%!test # dimensions that are none
%! for bad = {0, -1, 1.5, NaN, [1 2], "ALL", {1}, []}
%!   refuses (@() sum (u, bad{1}), "dimension", "dimension");
%!   refuses (@() any (u, bad{1}), "dimension", "dimension");
%!   refuses (@() max (u, [], bad{1}), "dimension", "dimension");
%! endfor
%! refuses (@() max (u, 1, 2), "dimension", "dimension");
%! refuses (@() max (u, u, 2), "dimension", "dimension");

%!test # dot
%! a = [1 2 3];
%! b = [4 5 6];
%! assert (dot (DeviceArray (a), DeviceArray (b)), 32);
%! assert (dot (DeviceArray (a), DeviceArray (b.')), 32);
%! assert (dot (DeviceArray (a.'), b), 32);
%! assert (dot (a, DeviceArray (b.')), 32);
%! assert (class (dot (DeviceArray (a), single (b))), "single");
%! assert (gather (dot (u, u)), dot (x, x));
%! assert (gather (dot (u, x, 2)), dot (x, x, 2));
%! assert (dot (DeviceArray (2), DeviceArray (3)), 6);
%! refuses (@() dot (u, DeviceArray (x.')), "size", "2x3");
%! refuses (@() dot (u, a), "size", "2x3");
%! refuses (@() dot (DeviceArray (a), [1 2]), "size", "3");

%!test # norm
%! for v = {[3 -4], [3; -4; 12], 5, [], zeros(1, 0), [0 0], single([3 -4]), [1 NaN], [Inf 1]}
%!   d = DeviceArray (v{1});
%!   for p = {1, 2, Inf, -Inf, "fro", "inf", "Inf"}
%!     if (any (isnan (v{1})) && any (strcmp (p{1}, {"inf", "Inf"})) || isequal (p{1}, -Inf) && numel (v{1}) < 2 ...
%!         || any (isnan (v{1})) && ! ischar (p{1}) && isinf (p{1}))
%!       continue;
%!     endif
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
%!   refuses (@() norm (u, p{1}{:}), "unsupported", "gather");
%! endfor
%! refuses (@() norm (DeviceArray ([1 2]), 3), "unsupported", "gather");
%! refuses (@() norm (DeviceArray ([1 2]), "nuc"), "unsupported", "gather");
%! refuses (@() norm (DeviceArray (ones (2, 2, 2)), "fro"), "unsupported", "gather");

%!test # isequal
%! assert (isequal (u, u));
%! assert (isequal (u, DeviceArray (x)));
%! assert (isequal (u, x));
%! assert (isequal (x, u));
%! assert (isequal (u, x, u, DeviceArray (x), x));
%! assert (isequal (u, single (x)));
%! assert (isequal (u, DeviceArray (single (x))));
%! assert (isequal (u > 0, x > 0));
%! assert (isequal (DeviceArray (97), "a"));
%! assert (isequal (DeviceArray (5), int8 (5)));
%! assert (! isequal (u, x + 1));
%! assert (! isequal (u, x.'));
%! assert (! isequal (u, DeviceArray (x(:))));
%! assert (! isequal (u, x, u + 1));
%! assert (! isequal (u, 3));
%! assert (! isequal (u, {x}));
%! assert (! isequal (u, struct ()));
%! assert (! isequal (u, "abc"));
%! assert (! isequal (DeviceArray (NaN), DeviceArray (NaN)));
%! assert (! isequal (DeviceArray (NaN), NaN));
%! assert (isequal (DeviceArray ([]), []));
%! assert (! isequal (DeviceArray ([]), zeros (0, 3)));

%!test # parts, counts, squares and exclusive or
%! for v = samples ()
%!   for f = {@real, @imag, @conj, @squeeze, @sumsq, @(a) sumsq(a, 2)}
%!     like (f{1}, v{1});
%!   endfor
%!   like (@nnz, v{1});
%! endfor
%! for size = {[1 1 0], [1 1 1 4], [2 1 1 3], [1 0 1 2], [1 1]}
%!   like (@squeeze, zeros (size{1}));
%! endfor
%! like (@xor, [0 1 2 0], [0 0 3 -0.5]);
%! like (@xor, single ([0; 1]), [0 5]);
%! assert (gather (xor (u, x > 0)), xor (x, x > 0));
%! assert (class (nnz (single (u))), "double");

## --- Shapes ---------------------------------------------------------------------

%!test # reshape
%! y = 1:24;
%! d = DeviceArray (y);
%! for c = {{4, 6}, {[4 6]}, {2, 3, 4}, {[2 3 4]}, {24, 1}, {6, 4, 1, 1}, {[], 6}, {4, []}, {2, [], 4}, {1, 1, 24}}
%!   v = reshape (d, c{1}{:});
%!   assert (class (v), "DeviceArray");
%!   assert (gather (v), reshape (y, c{1}{:}));
%! endfor
%! assert (gather (reshape (DeviceArray ([]), 0, 5)), zeros (0, 5));
%! refuses (@() reshape (d, 5, 5), "size", "");
%! refuses (@() reshape (d, [], 5), "size", "");
%! refuses (@() reshape (d, [], []), "size", "[]");
%! refuses (@() reshape (d, []), "size", "[]");
%! assert (gather (d), y);

%!test # numbers of any class as dimensions and powers, as the host has them
%! y = [1 2 3; 4 5 6];
%! for f = {@(a) reshape(a, int32 (3), int32 (2)), @(a) reshape(a, single (3), []), @(a) reshape(a, uint8 ([1 6])), ...
%!          @(a) a .^ single (2), @(a) a .^ true, @(a) single (a) .^ 2}
%!   like (f{1}, y);
%! endfor
%! for dims = {{0, []}, {[], 0}, {[], 3}, {0, 4}, {5, 0, []}}
%!   like (@(a) reshape (a, dims{1}{:}), zeros (0, 3));
%! endfor
%! for made = {zeros(2, int16 (3), "like", single (u)), DeviceArray.zeros(2, 3, "single")}
%!   assert (class (made{1}), "DeviceArray");
%!   assert (gather (made{1}), zeros (2, 3, "single"));
%! endfor
%! assert (gather (ones (size (u), "like", u)), ones (2, 3));
%! assert (device (zeros (1, 2, "like", u)), device (u));
%! refuses (@() DeviceArray (uint64 ([1 2 3])), "dataType", "uint64");
%! refuses (@() DeviceArray (1, "single"), "dataType", "DeviceArray (single (x))");
%! refuses (@() u .^ 2.5, "unsupported", "whole");
%! refuses (@() u .^ int8 (2), "unsupported", "whole");

%!test # vectors and matrices turned round
%! for v = {[1 2 3], [1; 2; 3], 7, zeros(1, 0), x, single(x), x > 0, zeros(0, 3)}
%!   like (@(a) a.', v{1});
%!   like (@(a) a', v{1});
%!   like (@(a) permute (a, [2 1]), v{1});
%!   like (@(a) permute (a, [3 1 2]), v{1});
%! endfor
%! like (@(a) permute (a, [1 3 2]), x);
%! refuses (@() DeviceArray (ones (2, 2, 2)).', "dimension", "permute");
%! refuses (@() permute (u, [1 1]), "dimension", "");
%! refuses (@() permute (u, 1), "dimension", "");

## --- Indexing -------------------------------------------------------------------

%!test # every form of an index gives the host's values
%! y = reshape (1:24, 2, 3, 4);
%! forms = {@(a) a(1), @(a) a(end), @(a) a(2,3), @(a) a(2,end), @(a) a(end,end), @(a) a(1,2,3), @(a) a(end,end,end), ...
%!          @(a) a(:,1), @(a) a(1,:), @(a) a(:,:), @(a) a(:,:,2), @(a) a(2:end,1), @(a) a(2:end), @(a) a([1 3; 2 4]), ...
%!          @(a) a([]), @(a) a(:,[]), @(a) a([1 1 2]), @(a) a([1; 2]), @(a) a(end:-1:1), @(a) a(1,1,1,1), ...
%!          @(a) a(logical ([1 0 1])), @(a) a(:,logical ([1 0 1])), @(a) a(int8 (2)), @(a) a(single ([1 2])), ...
%!          @(a) a(false), @(a) a(true), @(a) a(end-1), @(a) a(2,[3 1],end), @(a) a(1,:,:), @(a) a(zeros (1, 0))};
%! for f = forms
%!   like (f{1}, y);
%!   like (f{1}, single (y));
%! endfor
%! row = 1:5;
%! for v = {row, row.'}
%!   for f = {@(a) a(2), @(a) a([1 2]), @(a) a([1; 2]), @(a) a([1 2; 3 4]), @(a) a(end), @(a) a(2:end), ...
%!            @(a) a(logical ([1 0 1 0 1])), @(a) a(logical ([1; 0; 1])), @(a) a([]), @(a) a(:).'}
%!     like (f{1}, v{1});
%!   endfor
%! endfor
%! like (@(a) a(x > 2), x);
%! like (@(a) a(:,x(1,:) > 0), x);

%!test # one element is an ordinary number, the rest stays on the device
%! assert (class (u(2)), "double");
%! assert (class (single (u)(1,2)), "single");
%! assert (class ((u > 0)(end)), "logical");
%! for f = {@() u(:,:), @() u(:), @() u(), @() u(1,:), @() u([1 2]), @() u([]), @() u(x > 0), @() u(u > 0), @() u(2:end)}
%!   assert (class (f{1} ()), "DeviceArray", func2str (f{1}));
%! endfor
%! assert (gather (u(:)), x(:));
%! assert (u(:)(3), -1);
%! assert (u(:,2)(2), -5);
%! assert ((u + 1)(2), 2);
%! ## What is built is a DeviceArray.
%! for f = {@() DeviceArray(5), @() DeviceArray.zeros(1), @() zeros(1, 1, "like", u), @() ones(1, "like", u), ...
%!          @() reshape(DeviceArray (5), 1, 1), @() single(DeviceArray (5)), @() DeviceArray(5).', @() [DeviceArray([]), 5]}
%!   assert (class (f{1} ()), "DeviceArray", func2str (f{1}));
%! endfor

%!test # an index on the device: numbers, and a mask
%! y = magic (4);
%! d = DeviceArray (y);
%! like (@(a, i) a(i), y, [3 1 7]);
%! like (@(a, i) a(i,:), y, [3; 1]);
%! like (@(a) a(a > 7), y);
%! like (@(a) a(a > 100), y);
%! assert (gather (d(y > 7)), y(y > 7));

%!test # indices that are none
%! for f = {@() u(0), @() u(7), @() u(3,1), @() u(1,4), @() u(1.5), @() u(-1), @() u(1,1,2), @() u(NaN), @() u(Inf), ...
%!          @() u(logical ([0 0 0 0 0 0 1]))}
%!   refuses (f{1}, "index", "");
%! endfor
%! refuses (@() u{1}, "index", "u(...)");
%! refuses (@() u(u), "index", "");

%!test # methods with a dot, and chains of them
%! assert (u.gather (), x);
%! assert (u.gather, x);
%! assert (u.size (), [2 3]);
%! assert (u.size (2), 3);
%! [r, c] = u.size ();
%! assert ([r c], [2 3]);
%! [r, c] = u.size;
%! assert ([r c], [2 3]);
%! assert (gather (u.sum ()), sum (x));
%! assert (gather (u.sum (2)), sum (x, 2));
%! assert (u.sum ()(2), -6);
%! assert (u.abs ().sum ().gather (), sum (abs (x)));
%! assert (u.plus (1).gather (), x + 1);
%! assert (u.reshape (3, 2).gather ()(2, 1), x(2));
%! assert (u.numel (), 6);
%! name = "gather";
%! assert (u.(name) (), x);
%! u.size ();
%! assert (ans, [2 3]);
%! refuses (@() u.nothing, "unsupported", "nothing");
%! ## Private ones too.
%! for name = {"reduced", "filled", "refuse", "numbers"}
%!   refuses (@() u.(name{1}) (1), "unsupported", name{1});
%! endfor
%! refuses (@() u.DeviceArray (1), "unsupported", "DeviceArray");

## --- Assignment -----------------------------------------------------------------

%!test # elements, ranges, masks; the old array stays as it was
%! cases = {{5}, 7; {2, 3}, 7; {1, ':'}, [1 2 3]; {':', 2}, [8; 9]; {':'}, 0; {':'}, 1:6; {[1 3]}, [5 6]; ...
%!          {logical([1 0 1])}, [5 6]; {x > 2}, -1; {2, logical([1 0 1])}, 4; {[], 1}, 3; {int8(2), 2}, 1; {1, 2:3}, single([1 2])};
%! for k = 1:rows (cases)
%!   [index, value] = cases{k,:};
%!   want = x;
%!   want(index{:}) = double (value);
%!   v = w = u;
%!   v(index{:}) = value;
%!   assert (class (v), "DeviceArray");
%!   assert (double (gather (v)), want);
%!   assert (gather (w), x);
%!   assert (gather (u), x);
%!   v = u;
%!   v(index{:}) = DeviceArray (value);
%!   assert (double (gather (v)), want);
%! endfor
%! v = u;
%! v(end) = 1;
%! v(end,1) = 2;
%! v(2:end,2) += 10;
%! v(1)++;
%! want = x; want(end) = 1; want(end,1) = 2; want(2:end,2) += 10; want(1)++;
%! assert (gather (v), want);
%! v(2) = true;
%! assert (gather (v)(2), 1);

%!test # in cells and structs
%! c = {u, 1};
%! c{1}(2) = 50;
%! s.a = u;
%! s.a(2,:) = 0;
%! assert (gather (c{1})(2), 50);
%! assert (gather (s.a), [x(1,:); 0 0 0]);
%! assert (gather (u), x);
%! assert (c{1}(2), 50);
%! assert (s.a(1,2), -1);
%! assert (s.a.size (), [2 3]);
%! assert (c{1}(end), 9);

%!function set_to (u, value, varargin)
%!  u(varargin{:}) = value;
%!endfunction

%!function set_field (u)
%!  u.id = 3;
%!endfunction

%!function set_new_field (u)
%!  u.colour = 3;
%!endfunction

%!function set_cell (u)
%!  u{1} = 3;
%!endfunction

%!function set_deep (u)
%!  u(1).a = 3;
%!endfunction

%!test # what cannot be assigned
%! refuses (@() set_to (u, 1, 7), "", "");
%! refuses (@() set_to (u, 1, 0), "index", "");
%! refuses (@() set_to (u, [1 2 3], 1:2), "", "");
%! refuses (@() set_to (u, {1}, 1), "", "");
%! refuses (@() set_to (u, 1i, 1), "", "");
%! refuses (@() set_to (u, 1, u), "index", "");
%! for f = {@set_field, @set_new_field, @set_cell, @set_deep}
%!   refuses (@() f{1} (DeviceArray (1)), "unsupported", "u(...) = value");
%! endfor
%! refuses (@() set_cell (u), "unsupported", "u(...) = value");
%! refuses (@() set_deep (u), "unsupported", "u(...) = value");
%! assert (gather (u), x);

## Octave calls SUBSASGN with an array of no objects, or with an object that was never made, where the place that is
## assigned to has no value. A process of its own: it ended there once.
%!test # to a name, a field or a cell without a value
%! statements = {"x(1:3) = u", "x(1) = s", "x(2,2) = s", "x(:) = u", "x(:,1) = e", "x(1,1) = u + 1", "x(2) = y(3) = s", ...
%!               "x.a(2:4) = u", "x.a.b(1) = s", "x(2).a(1:3) = u", "x(2).a = u; x(1).a(2) = s", ...
%!               "x{1}(2) = u", "x{2}{3}(1) = s", "x.a{2}(1:3) = u", "x{2}.f(1:3) = u", "x.a.b{3}.c(2).d(1:3) = u", ...
%!               "x = cell (2); x{1,2}(2).f(3) = u", "x = struct (\"a\", {1, 2}); x(3).a(2) = s", ...
%!               "[x(1:2), y] = deal (u, s)", "[x.a(1), x.b(2)] = deal (s, s)", "[u(1), y(2)] = deal (1, s)", ...
%!               "global g; g.a(1:3) = u", "global g; g{2}(1:3) = u", "feval (@() setfield (struct (), \"a\", {2}, s))", ...
%!               "x = repmat (2, 2, s)", ...
%!               "x = builtin (\"subsasgn\", u, substruct (\"()\", {2}), s); gather (x)", ...
%!               "x = builtin (\"subsasgn\", u, substruct (\"()\", {2}), s); StencilConstantMemory_CUDA (x, 1)"};
%! [status, out] = run_octave ({
%!   ["statements = {'" strjoin(statements, "', '") "'};"]
%!   "function attempt (statement)"
%!   "  u = DeviceArray (1:3); s = DeviceArray (5); e = DeviceArray (zeros (0, 3));"
%!   "  eval ([statement ';']);"
%!   "end"
%!   "for k = 1:numel (statements)"
%!   "  printf ('%s: ', statements{k}); fflush (stdout);"
%!   "  text = 'no error';"
%!   "  try, attempt (statements{k}); catch err, text = err.message; end"
%!   "  printf ('%s\\n', text);"
%!   "end"
%!   "clear -global g"
%!   "assert (DeviceArray_CUDA ('count'), 0);"
%!   "printf ('done\\n');"});
%! assert (status, 0, out);
%! lines = strsplit (strtrim (strrep (out, exit_noise (), "")), "\n");
%! assert (numel (lines) == numel (statements) + 1, "%s", out);
%! for k = 1:numel (statements)
%!   ## To a value of a type of Octave's own, this is an assignment as any other.
%!   fits = own_type () && ! isempty (strfind (statements{k}, "builtin"));
%!   assert (! isempty (strfind (lines{k}, {"gather (", "no error"}{1 + fits})), "%s", lines{k});
%! endfor

## --- On the screen --------------------------------------------------------------

%!test # size, class and place, then the values as the host shows them
%! text = disp (u);
%! assert (! isempty (regexp (text, '^  DeviceArray, 2x3 double on .*\n\n', "once")), "%s", text);
%! assert (text(end-numel (disp (x))+1:end), disp (x));
%! assert (evalc ("disp (u)"), text);
%! assert (evalc ("u"), ["u =\n\n" text "\n"]);
%! shown = evalc ("u + 1");
%! assert (strncmp (shown, "ans =", 5) && ! isempty (strfind (shown, disp (x + 1))), "%s", shown);
%! assert (! isempty (strfind (disp (u > 0), disp (x > 0))));
%! assert (! isempty (strfind (disp (DeviceArray (5)), "1x1 double")));
%! text = disp (DeviceArray (zeros (0, 3, "single")));
%! assert (! isempty (regexp (text, '^  DeviceArray, 0x3 single on .*\n$', "once")), "%s", text);
%! y = rand (300, 5, 2);
%! text = disp (DeviceArray (y));
%! assert (! isempty (strfind (text, "300x5x2 double")) && ! isempty (strfind (text, "its first 8 x 5")), "%s", text);
%! assert (! isempty (strfind (text, disp (y(1:8,:,1)))), "%s", text);
%! assert (! isempty (strfind (evalc ("c = {u}"), "c =")));
%! assert (! isempty (strfind (evalc ("s.a = u"), "s =")));

%!test # help
%! for name = {"DeviceArray", "DeviceArray_CUDA"}
%!   text = evalc (["help " name{1}]);
%!   assert (! isempty (strfind (text, "DeviceArray")), text);
%! endfor
%! assert (! isempty (strfind (evalc ("help DeviceArray"), "if (all (u(:) > 0))")));
%! assert (strncmp (get_first_help_sentence ("DeviceArray"), "DeviceArray  Array that stays", 29));

## --- What is not there ----------------------------------------------------------

%!test # functions that only the host has
%! for name = {"exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", ...
%!             "tanh", "plot"}
%!   refuses (@() feval (name{1}, u), "unsupported", [name{1} " (gather (u))"]);
%! endfor
%! for f = {@() atan2(u, u), @() plot(1:3, u), @() 1:DeviceArray(3)}
%!   refuses (f{1}, "unsupported", "gather");
%! endfor

%!function a = put_at (a, value, varargin)
%!  a(varargin{:}) = value;
%!endfunction

%!test # a list of places takes as many values, whatever their dimensions; no places take none
%! for given = {{9:-1:6, [1 2; 3 1]}, {[7; 8], [1 2]}, {1:6, ":"}, {reshape(1:6, 1, 2, 3), 1:6}, {[], zeros(1, 0)}, ...
%!              {zeros(0, 1), []}, {zeros(0, 3), false(2, 3)}, {zeros(3, 0), zeros(1, 0)}, {[1 2 3], logical([1 1 1; 0 0 0])}}
%!   want = put_at (x, given{1}{:});
%!   assert (gather (put_at (u, given{1}{:})), want);
%! endfor
%! refuses (@() put_at (u, 1:3, 1:4), "size", "nonconformant");
%! refuses (@() put_at (u, (1:6)', ":", ":"), "size", "nonconformant");
%! assert (gather (u), x);

%!test # printing
%! for f = {@() sprintf("%g", u), @() printf("%g", u), @() fprintf("%g", u), @() num2str(u), @() mat2str(u)}
%!   assert (! isempty (strfind (said (f{1}), "gather")), "%s", said (f{1}));
%! endfor

## --- What a class cannot decide in Octave ----------------------------------------

%!function loop_over (u)
%!  for q = u
%!    error ("loop_over: it ran");
%!  endfor
%!endfunction

%!function ifelse_ (u)
%!  if (u)
%!    error ("ifelse_: it ran");
%!  endif
%!endfunction

%!function increment (u)
%!  u++;
%!endfunction

%!function put_into (x, u)
%!  x(2) = u;
%!endfunction

%!test # errors of Octave's own
%! for f = {@() x(u), @() x(u, 1), @() loop_over(u), @() increment(u), @() put_into(x, u), @() set_field(u)}
%!   assert (! isempty (said (f{1})), "no error of %s", func2str (f{1}));
%! endfor
%! file = tempname ();
%! unwind_protect
%!   caught = [];
%!   try
%!     save ("-text", file, "u");
%!   catch caught
%!   end_try_catch
%!   if (isempty (caught))
%!     ## Octave 11 writes something: nothing that is good for another session.
%!     [status, out] = run_octave ({sprintf("try, load ('%s'); gather (u); disp ('<valid>'); catch, end", file)});
%!     assert (isempty (strfind (out, "<valid>")), out);
%!   endif
%! unwind_protect_cleanup
%!   delete (file);
%! end_unwind_protect
%! assert (gather (u), x);

%!test # functions of the host that index
%! like (@(a) trapz (a), x);
%! like (@fliplr, x);
%! like (@flipud, x);
%! assert (cellfun (@numel, {u, u(:)}), [6 6]);

%!testif ; own_type ()  # needs the type of Octave's own
%! for v = {DeviceArray(1), DeviceArray([1 1]), DeviceArray([])}
%!   for f = {@() ifelse_(v{1}), @() v{1} && true, @() v{1} || false}
%!     refuses (f{1}, "unsupported", "gather");
%!   endfor
%! endfor

%!testif ; ! own_type ()  # of the class alone
%! ## A condition: false, whatever the values, and no error.
%! for v = {DeviceArray(1), DeviceArray(0), DeviceArray([1 1]), DeviceArray([])}
%!   taken = false;
%!   if (v{1})
%!     taken = true;
%!   endif
%!   while (v{1})
%!     taken = true;
%!     break;
%!   endwhile
%!   assert (! taken);
%! endfor
%! for v = {DeviceArray(1), DeviceArray([1 1])}
%!   assert ((v{1} && true), false);
%!   assert ((v{1} || false), false);
%! endfor
