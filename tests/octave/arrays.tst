## DeviceArray: construction, gathering, classes, and queries of an array. The other files arrays_*.tst have operators,
## indexing, assignment, shapes, reductions, unsupported functions, random sequences of all that, and the lifetime of
## arrays.

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

## --- Building and gathering -----------------------------------------------------

%!test # there and back, in every class
%! for s = array_samples (true)
%!   d = DeviceArray (s{1});
%!   assert (class (d), "DeviceArray");
%!   assert (isobject (d));
%!   [yes, why] = same_bits (gather (d), s{1});
%!   assert (yes, "%s: %s", literal (s{1}), why);
%!   assert (underlyingType (d), class (s{1}));
%!   assert (isUnderlyingType (d, class (s{1})));
%!   assert (! isUnderlyingType (d, "int64"));
%! endfor
%! for special = {[NaN Inf -Inf -0 realmin/2 realmax], single([NaN Inf -Inf -0 1e-40]), intmax("uint32"), intmin("int32")}
%!   assert (same_bits (gather (DeviceArray (special{1})), special{1}));
%! endfor
%! ## A range is stored without its elements.
%! assert (gather (DeviceArray (1:4)), [1 2 3 4]);
%! assert (gather (DeviceArray (zeros (1, 0, 3, 0))), zeros (1, 0, 3, 0));

%!test # gather takes ordinary values too, and several arrays
%! for plain = {1, single(2), "abc", {1}, true, 1i, sparse(1), int64(3), @sin, struct("a", 1)}
%!   assert (gather (plain{1}), plain{1});
%! endfor
%! [a, b, c] = gather (u, 7, u > 0);
%! assert ({a, b, c}, {x, 7, x > 0});
%! [a, b] = gather (1, 2);
%! assert ([a b], [1 2]);
%! assert (gather (DeviceArray (5)), 5);
%! fail ("[a, b] = gather (u)", "gather");
%! fail ("[a, b] = gather (1)", "gather");
%! fail ("gather ()", "gather|gather");

%!test # gather of ordinary arrays in a session without a DeviceArray
%! [status, out] = run_octave ({"assert (gather (1), 1); [a, b] = gather (2, 'x'); assert ({a, b}, {2, 'x'}); disp ('done')"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (strtrim (strrep (out, exit_noise (), "")), "done");

%!test # of another DeviceArray
%! d = DeviceArray (u);
%! assert (gather (d), x);
%! d(1) = 7;
%! assert (gather (u), x);
%! assert (gather (d)(1), 7);

%!test # zeros and ones take sizes as the host's do
%! cases = {{}, {3}, {2, 3}, {[2 3]}, {2, 3, 4}, {[2 3 4]}, {0}, {-1, 2}, {3, 1, 1}, {2, "single"}, {2, 3, "double"}, ...
%!          {[2 3], "single"}, {"single"}, {int8(2), 3}, {1}, {2, "int8"}, {2, 3, "uint32"}, {single(2), uint16(3)}};
%! for c = cases
%!   for f = {"zeros", "ones"}
%!     got = DeviceArray.(f{1}) (c{1}{:});
%!     want = feval (f{1}, c{1}{:});
%!     assert (class (got), "DeviceArray");
%!     assert (same_bits (gather (got), want));
%!   endfor
%! endfor
%! assert (gather (DeviceArray.ones (2, 3, "single", "Backend", "cpu")), ones (2, 3, "single"));
%! assert (gather (DeviceArray.zeros (2, "Backend", "cpu")), zeros (2));

%!test # zeros and ones like another array: its class, and where it lies
%! for c = array_classes ()
%!   d = DeviceArray (c{1} ([1 0 1]));
%!   for f = {@zeros, @ones}
%!     for sizes = {{}, {1}, {2, 3}, {[2 3]}, {0, 3}, {2, 1, 3}, {int16(2), 3}}
%!       got = f{1} (sizes{1}{:}, "like", d);
%!       want = c{1} (f{1} (sizes{1}{:}));
%!       assert (class (got), "DeviceArray");
%!       assert (same_bits (gather (got), want));
%!       assert (device (got), device (d));
%!     endfor
%!   endfor
%! endfor
%! assert (gather (zeros (size (u), "like", u)), zeros (2, 3));
%! assert (gather (DeviceArray.ones (2, "like", single (u))), ones (2, "single"));

%!test # options, and the device as a number
%! assert (device (DeviceArray (1, "Backend", "cpu")), 0);
%! n = device (u);
%! assert (isa (n, "double") && isscalar (n) && n >= 0 && n == fix (n));
%! assert (u.device (), n);

%!test # what the constructor refuses
%! for bad = {1i, sparse(1), int64(1), uint64([1 2]), "abc", {1}, struct(), @sin, single(1i)}
%!   refused (@() DeviceArray (bad{1}), "dataType", "");
%! endfor
%! refused (@() DeviceArray (uint64 ([1 2 3])), "dataType", "uint64");
%! refused (@() DeviceArray (int64 (1), "Backend", "cpu"), "dataType", "int64");
%! refused (@() DeviceArray (1, "Colour", 1), "option", "Colour");
%! refused (@() DeviceArray (1, "Backend"), "numberOfInputs", "Backend");
%! refused (@() DeviceArray (1, "Backend", "abacus"), "", "abacus");
%! refused (@() DeviceArray (1, "single"), "dataType", "DeviceArray (single (x))");
%! refused (@() DeviceArray.zeros (2, "Backend"), "numberOfInputs", "");
%! for name = {"int64", "uint64", "char"}
%!   refused (@() DeviceArray.zeros (2, name{1}), "dataType", "single");
%! endfor
%! for bad = {1.5, Inf}
%!   refused (@() DeviceArray.zeros (2, bad{1}), "", "");
%! endfor
%! refused (@() DeviceArray.zeros (u, 1), "", "gather");
%! assert (gather (u), x);

%!testif ; ! own_type ()  # of the class alone: the type has an array of no elements
%! refused (@() DeviceArray (), "numberOfInputs", "DeviceArray");

## --- Classes ----------------------------------------------------------------------

%!test # from each class to each other
%! for s = array_samples (true)
%!   for c = array_classes ()
%!     alike (c{1}, s, true);
%!   endfor
%! endfor
%! values = [Inf -Inf 2.5 -2.5 3.5 0.5 -0.5 1e10 -1e10 0.49999999999999994 127.5 -128.5 255.5 65535.5 2147483647.5];
%! for c = array_classes ()
%!   alike (c{1}, {values}, true);
%!   alike (c{1}, {single(values)}, true);
%!   if (! strcmp (func2str (c{1}), "logical"))
%!     alike (c{1}, {[NaN 1]}, true);
%!   endif
%! endfor
%! alike (@logical, {[1 NaN]});
%! for name = {"double", "single", "int8", "uint16"}
%!   alike (@(a) cast (a, name{1}), {x}, true);
%! endfor

%!test # to what a DeviceArray cannot be
%! refused (@() int64 (u), "dataType", "int64");
%! refused (@() uint64 (u), "dataType", "uint64");

## --- Questions --------------------------------------------------------------------

%!test # questions about class and size, as of ordinary arrays
%! names = {"numel", "ndims", "rows", "columns", "length", "isempty", "isscalar", "isvector", "isrow", "iscolumn", ...
%!          "ismatrix", "issquare", "isreal", "isfloat", "isnumeric", "islogical", "isinteger", "size", "iscomplex", ...
%!          "ischar", "iscell", "isstruct", "issparse", "is_function_handle", "isnull", "iscellstr"};
%! for s = array_samples (true)
%!   d = DeviceArray (s{1});
%!   for name = names
%!     got = feval (name{1}, d);
%!     want = feval (name{1}, s{1});
%!     assert (isequal (got, want) && strcmp (class (got), class (want)), "%s of %s: %s against %s", ...
%!             name{1}, literal (s{1}), mat2str (got), mat2str (want));
%!   endfor
%!   assert (isa (d, "DeviceArray"));
%!   assert (! isa (d, "double"));
%! endfor

%!test # size in all its forms
%! for s = array_samples ()
%!   d = DeviceArray (s{1});
%!   for n = 1:5
%!     got = want = cell (1, n);
%!     [got{:}] = size (d);
%!     [want{:}] = size (s{1});
%!     assert (got, want);
%!   endfor
%!   for asked = {{1}, {2}, {3}, {7}, {[1 2]}, {[3 1]}, {1, 2}, {2, 2, 5}, {int8(2)}}
%!     assert (size (d, asked{1}{:}), size (s{1}, asked{1}{:}));
%!   endfor
%! endfor
%! [a, b] = size (u, [2 1]);
%! assert ([a b], [3 2]);
%! [a, b] = size (u, 2, 3);
%! assert ([a b], [3 1]);
%! for bad = {0, -1, 1.5, NaN, {1}}
%!   fail ("size (u, bad{1})");
%! endfor
%! fail ("[a, b] = size (u, 1)");

%!testif ; own_type ()  # an object of the class answers for itself, whatever is in it
%! assert (size_equal (u, x));
%! assert (size_equal (x, u, u + 1));
%! assert (! size_equal (u, x.'));
%! assert (cellfun ("numel", {u, u(:,1)}), [6 2]);
%! assert (cellfun ("isempty", {u, DeviceArray(zeros (0, 3))}), [false true]);
%! assert (cellfun ("size", {u}, 2), 3);
%! assert (cellfun ("ndims", {DeviceArray(ones (2, 2, 2))}), 3);
%! assert (numel (u, ":"), 6);
%! assert (numel (u, 1, ":"), 3);
%! for c = array_classes ()
%!   assert (sizeof (DeviceArray (c{1} (x))), sizeof (c{1} (x)));
%! endfor

%!test # in functions that ask each element of a cell
%! assert (cellfun (@numel, {u, u(:,1)}), [6 2]);
%! assert (cellfun (@isempty, {u, DeviceArray([])}), [false true]);
%! assert (cellfun (@class, {u, 1}, "UniformOutput", false), {"DeviceArray", "double"});

%!test # isequaln
%! n = [NaN 2; 3 NaN];
%! d = DeviceArray (n);
%! assert (isequaln (d, n, d) && isequaln (n, d) && isequaln (DeviceArray (NaN), NaN) && ! isequal (d, d));
%! assert (! isequaln (d, n, [NaN 2; 3 4]) && ! isequaln (d, n') && ! isequaln (d, {}));

%!test # isa and validateattributes, of the values' class
%! for c = array_classes ()
%!   for name = {"numeric", "float", "integer"}
%!     assert (isa (DeviceArray (c{1} (x)), name{1}), isa (c{1} (x), name{1}));
%!   endfor
%!   validateattributes (DeviceArray (c{1} (x)), {func2str(c{1})}, {"size", [2 3]});
%! endfor
%! assert (isa (u, {"DeviceArray", "float", "integer", "double"}), [true true false false]);
%! fail ("validateattributes (DeviceArray ([1 -2]), {'numeric'}, {'positive'})", "positive");

%!test # functions of the host that take a DeviceArray by bsxfun
%! for f = {@(a) bsxfun(@minus, a, mean (a)), @(a) bsxfun("times", [1; 2], a), @center, @(a) cov(a(1,:)'), @(a) a(1,:) * a(2,:)', ...
%!          @(a) a(:)' * a(:)}
%!   assert (gather (f{1} (u)), f{1} (x), 8 * eps);
%! endfor
%! refused (@() u * u', "unsupported", "elementwise");
%! refused (@() int8 (u(1,:)) * int8 (u(1,:)'), "unsupported", "elementwise");

%!test # isequal
%! assert (isequal (u, u));
%! assert (isequal (u, DeviceArray (x)));
%! assert (isequal (u, x));
%! assert (isequal (x, u));
%! assert (isequal (u, x, u, DeviceArray (x), x));
%! assert (isequal (x, x, u));
%! assert (isequal (u, single (x)));
%! assert (isequal (u, DeviceArray (int8 (x))));
%! assert (isequal (u > 0, x > 0));
%! assert (isequal (u > 0, double (x > 0)));
%! assert (isequal (DeviceArray (97), "a"));
%! assert (isequal (DeviceArray (5), int64 (5)));
%! assert (! isequal (u, x + 1));
%! assert (! isequal (u, x.'));
%! assert (! isequal (u, DeviceArray (x(:))));
%! assert (! isequal (u, x, u + 1));
%! assert (! isequal (x, x, u + 1));
%! assert (! isequal (u, 3));
%! assert (! isequal (u, {x}));
%! assert (! isequal (u, struct ()));
%! assert (! isequal (u, "abc"));
%! assert (! isequal (DeviceArray (NaN), DeviceArray (NaN)));
%! assert (! isequal (DeviceArray (NaN), NaN));
%! assert (isequal (DeviceArray ([]), []));
%! assert (! isequal (DeviceArray ([]), zeros (0, 3)));
%! yes = isequal (u, u);
%! assert (islogical (yes) && isscalar (yes));

## --- Methods with a dot -----------------------------------------------------------

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
%! assert (gather (u.abs ().sum ()), sum (abs (x)));
%! assert (u.plus (1).gather (), x + 1);
%! assert (u.reshape (3, 2).gather ()(2, 1), x(2));
%! assert (u.numel (), 6);
%! name = "gather";
%! assert (u.(name) (), x);
%! u.size ();
%! assert (ans, [2 3]);
%! refused (@() u.nothing, "unsupported", "nothing");
%! ## Private ones too.
%! for name = {"reduced", "filled", "refuse", "joined"}
%!   refused (@() u.(name{1}) (1), "unsupported", name{1});
%! endfor
%! refused (@() u.DeviceArray (1), "", "");

%!test # delete does nothing to an array that has a name
%! assert (evalc ("delete (u); u.delete ();"), "");
%! assert (gather (u), x);

## --- On the screen ----------------------------------------------------------------

%!test # a matrix as the host shows it, with size, class and device
%! for shown = {x, [1.5 2.25; -3 1e3], single([1 2]), int8([1 -2; 3 4]), x > 0, 1:3, (1:3)', zeros(0, 3)}
%!   text = evalc ("d = DeviceArray (shown{1})");
%!   assert (strncmp (text, "d =", 3), text);
%!   for word = {sprintf("%dx%d", size (shown{1})), class(shown{1}), {"in memory of the CPU", "on device"}{1 + (device (u) > 0)}}
%!     assert (! isempty (strfind (text, word{1})), "no %s in %s", word{1}, text);
%!   endfor
%!   rows_of = strtrim (strsplit (strtrim (disp (shown{1})), "\n"));
%!   for k = 1:rows (shown{1})
%!     assert (! isempty (strfind (text, rows_of{k})), "no %s in %s", rows_of{k}, text);
%!   endfor
%!   d = DeviceArray (shown{1});
%!   assert (evalc ("disp (d)"), disp (d));
%! endfor
%! shown = evalc ("u + 1");
%! assert (strncmp (shown, "ans =", 5), shown);

%!test # of a large array a corner, in a moment
%! d = DeviceArray.zeros (3000, 3000);
%! text = evalc ("d");
%! assert (numel (text) < 5000);
%! assert (! isempty (strfind (text, "3000x3000")), text);
%! text = evalc ("d = DeviceArray (rand (2, 3, 4))");
%! assert (! isempty (strfind (text, "2x3x4")), text);

%!testif ; own_type ()  # Octave shows what an object of the class holds
%! ## A line in structs and cells.
%! text = evalc ("c = {u, 1}");
%! assert (! isempty (strfind (text, "2x3 double")), text);
%! text = evalc ("s.a = u");
%! assert (! isempty (strfind (text, "2x3 double")), text);

%!test # help
%! for name = {"DeviceArray", "DeviceArray_CUDA"}
%!   text = evalc (["help " name{1}]);
%!   assert (! isempty (strfind (text, "DeviceArray")), text);
%! endfor
%! assert (! isempty (strfind (evalc ("help DeviceArray"), "if (all (u(:) > 0))")));
%! assert (strncmp (get_first_help_sentence ("DeviceArray"), "DeviceArray  Array that stays", 29));
