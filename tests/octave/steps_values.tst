## DeviceArray.iterate with 'Values' that are arrays: the bits of the plain loop, for all classes of pages, and errors.

%!shared x, V
%! rand ("twister", 11);
%! [x, V] = deal (rand (5, 4), rand (5, 4, 7));

%!function checked (f, n, states, V, varargin)
%!  ## Against the plain loop: states, their classes, records, and the steps.
%!  asked = struct ("Values", {V}, varargin{:});
%!  [wanted, columns, steps] = plain_steps (f, n, states, {}, asked);
%!  records = isfield (asked, "Record");
%!  got = cell (1, numel (states) + records + 1);
%!  [got{:}] = DeviceArray.iterate (f, n, states{:}, "States", numel (states), "Values", V, varargin{:});
%!  assert (got{end}.Steps, steps);
%!  for i = 1:numel (states)
%!    assert (isa (got{i}, "DeviceArray"), isa (states{i}, "DeviceArray"));
%!    [yes, why] = same_bits (gather (got{i}), wanted{i});
%!    assert (yes, "state %d of %s: %s", i, func2str (f), why);
%!  endfor
%!  if (records)
%!    [yes, why] = same_bits (double (gather (got{end-1})), double (columns));
%!    assert (yes, "records of %s: %s", func2str (f), why);
%!  endif
%!endfunction

%!function v = random_values (class_of, d)
%!  v = 40 * rand (d) - 10;
%!  if (strcmp (class_of, "logical"))
%!    v = v > 5;
%!  else
%!    v = feval (class_of, v);
%!    v(rand (d) < 0.1) = -0;
%!  endif
%!endfunction

%!function [u, w] = mixes (u, w, varargin)
%!  for i = 1:numel (varargin)
%!    a = varargin{i};
%!    w = 0.5 * w + double (a(1)) / (i + 1) - double (max (a(:)));
%!    u = merge (u > a, u - double (a), 0.25 * double (a) + u);
%!  endfor
%!  u = u + 0.01 * StencilConstantMemory_CUDA (u, [1 -2 1]);
%!endfunction

%!test # random states and pages of all classes, which expand, ordinary ones and DeviceArrays, behind a matrix's options
%! classes = {"double", "single", "logical", "int8", "uint8", "int16", "uint16", "int32", "uint32"};
%! shapes = {[5 4], [5 1], [1 4], [1 1]};
%! for trial = 1:24
%!   n = randi (9);
%!   entries = cell (1, randi (3));
%!   for i = 1:numel (entries)
%!     shape = shapes{randi (4)};
%!     if (shape(2) == 1)
%!       shape = shape(1);
%!     endif
%!     entries{i} = random_values (classes{mod (trial + 4 * i, 9) + 1}, [shape, n + randi(3)]);
%!     if (rand () < 0.4)
%!       entries{i} = DeviceArray (entries{i});
%!     endif
%!   endfor
%!   states = {random_values({"double", "single"}{randi (2)}, [5 4]), random_values("double", [2 3])};
%!   if (rand () < 0.5)
%!     states = cellfun (@DeviceArray, states, "UniformOutput", false);
%!   endif
%!   options = {{}, {"Record", @(u, w) [u(2,:)(:); w(:)]}, {"Until", @(u, w) any(u(:) > 12), "Check", randi(4)}};
%!   options = [options{[1, find(rand (1, 2) < 0.5) + 1]}];
%!   checked (@mixes, n, states, entries, options{:});
%! endfor

%!test # the first step changes a class, and pages go on
%! checked (@(u, a) (u + a) > 1, 7, {x}, {V}, "Record", @(u) u(:,2));
%! checked (@(u, a) (u + a) > 1, 7, {x}, {DeviceArray(V)});
%! checked (@(u, w, a, b) deal (single (u) + a, w > b), 7, {x, x}, {V, int8(50 * V)});

%!test # states on the way
%! f = @(u, a) 0.5 * u + a;
%! for start = {x, x > 0.5}
%!   [S, info] = DeviceArray.iterate (f, 6, start{1}, "Values", {V}, "Every", 2);
%!   assert (info.Kept, [2 4 6]);
%!   for k = 1:3
%!     assert (same_bits (S(:,:,k), plain_steps (f, 2 * k, start, {}, struct ("Values", {{V}})){1}));
%!   endfor
%! endfor
%! [S, info] = DeviceArray.iterate (f, 7, x, "Values", {V}, "Every", 3, "Until", @(u) u(1) > Inf, "Progress", false);
%! assert (info.Kept, [3 6 7]);
%! assert (same_bits (S(:,:,3), plain_steps (f, 7, {x}, {}, struct ("Values", {{V}})){1}));

%!function [u, v] = passes_on (u, v, a, b)
%!  ## A page becomes a state, and a page is changed.
%!  b(2,:) = u(1,:);
%!  u = a;
%!  v = b + v;
%!endfunction

%!test # pages stay what they are
%! held = {DeviceArray(V), DeviceArray(2 * V)};
%! for pages = {held, {V, 2 * V}, {held{1}, V(:,:,1:4)}}
%!   checked (@passes_on, 4, {x, x}, pages{1});
%! endfor
%! assert ({gather(held{1}), gather(held{2})}, {V, 2 * V});
%! ## The only page of an array is the array.
%! one = DeviceArray (V(:,1,1));
%! [u, v] = DeviceArray.iterate (@passes_on, 1, x(:,1), x(:,1), "Values", {one, one});
%! u(1) = v(1) = 77;
%! assert (gather (one), V(:,1,1));

%!test # volumes, more dimensions, and pages without elements
%! W = rand (3, 2, 4, 6);
%! checked (@(u, a) u .* a + sum (a, 3), 6, {rand(3, 2, 4)}, {W});
%! checked (@(u, a) u + a(:,:)(1:2,1:2), 6, {rand(2)}, {W});
%! checked (@(u, a) u + size (a, 2) + ndims (a), 6, {rand(2)}, {rand(2, 2, 1, 6)});
%! checked (@(u, a) u + numel (a) + sum (a(:)), 5, {rand(2)}, {zeros(0, 3, 5)});
%! assert (isempty (DeviceArray.iterate (@(u, a) [u, a(:,[])], 0, zeros (3, 0), "Values", {zeros(3, 4, 0)})));

%!test # numbers in a cell are those of a matrix
%! W = rand (2, 9);
%! f = @(u, a, b) u * a + b;
%! u = DeviceArray.iterate (f, 7, x, "Values", W);
%! for pages = {{W(1,:), W(2,1:8)}, {DeviceArray(W(1,:)), W(2,:)}, {W(1,:); W(2,:)}}
%!   assert (same_bits (DeviceArray.iterate (f, 7, x, "Values", pages{1}), u));
%! endfor
%! checked (@(u, a, b) u * a + b, 9, {x}, {single(W(1,:)), W(2,:)});
%! assert (same_bits (DeviceArray.iterate (@(u) 2 * u, 7, x, "Values", {}), 128 * x));

%!test # many pages go up in chunks, and come in their order
%! [m, n] = deal (1000, 400);
%! for of = {"double", "single", "int16", "logical"}
%!   W = random_values (of{1}, [m, n]);
%!   u = DeviceArray.iterate (@(u, a, b) 0.5 * u + double (a) - b, n, zeros (m, 1), "Values", {W, double(W) / 3});
%!   want = zeros (m, 1);
%!   for k = 1:n
%!     want = 0.5 * want + double (W(:,k)) - double (W(:,k)) / 3;
%!   endfor
%!   assert (same_bits (u, want), of{1});
%! endfor

%!test # random numbers of the step, and pages
%! step = @(u, a) u + a .* DeviceArray.rand (5, 4);
%! DeviceArray.rng (5);
%! u = DeviceArray.iterate (step, 7, x, "Values", {V});
%! DeviceArray.rng (5);
%! assert (same_bits (u, plain_steps (step, 7, {x}, {}, struct ("Values", {{V}})){1}));

%!test # what is refused, and in which words
%! f = @(u, a) u + a;
%! run = @(n, values, varargin) @() DeviceArray.iterate (f, n, x, "Values", values, varargin{:});
%! refused (run (8, {V}), "option", "5x4x7 for entry 1");
%! refused (run (8, {V}), "option", "of which there are 8");
%! refused (run (3, {V, x(:,1:2)}), "option", "5x2 for entry 2");
%! refused (run (8, {DeviceArray(V)}), "option", "5x4x7 for entry 1");
%! refused (run (Inf, {V}, "Until", @(u) u(1) > 2), "option", "5x4x7 for entry 1");
%! refused (run (3, {V, V * 1i}), "option", "entry 2 is 5x4x7 complex double");
%! refused (run (3, {sparse(x)}), "option", "entry 1 is 5x4 sparse double");
%! refused (run (3, {int64(V)}), "option", "entry 1 is 5x4x7 int64");
%! refused (run (3, {{V}}), "option", "entry 1 is 1x1 cell");
%! refused (run (3, {"abc"}), "option", "entry 1 is 1x3 char");
%! refused (run (3, "abc"), "option", "or a cell of arrays with a page a step");
%! refused (run (3, V), "option", "5x4x7 double");
%! refused (@() DeviceArray.compile (f, x, "Values", {V}), "option", "compile takes no 'Values'");
%! ## A function of fewer arguments, and sizes that do not go together.
%! fail ("DeviceArray.iterate (@(u) u, 3, x, 'Values', {V})", "called with too many inputs");
%! refused (@() DeviceArray.iterate (f, 3, rand (3), "Values", {V}), "", "nonconformant");
%! refused (@() DeviceArray.iterate (f, 3, x(:,1), "Values", {V}), "trace", "changes its size");

%!test # nothing is left behind
%! DeviceArray.iterate (@(u, a) u + a, 7, x, "Values", {V});
%! count = DeviceArray_CUDA ("count");
%! DeviceArray.iterate (@(u, a, b) u + a .* b, 7, x, "Values", {V, V > 0.5});
%! refused (@() DeviceArray.iterate (@(u, a) u + a, 7, x, "Values", {V}, "Until", @(u) u(1) / 0 - u(2) / 0), "until", "");
%! assert (DeviceArray_CUDA ("count"), count);

%!testif ; has_gpu ()  # needs a GPU
%! ## Steps go where pages lie that are held; two places in one run are an error.
%! [here, there] = deal (DeviceArray (V, "Backend", "cuda"), DeviceArray (V, "Backend", "cpu"));
%! f = @(u, a) 0.5 * u + a;
%! [u, v] = deal (DeviceArray.iterate (f, 7, x, "Values", {here}), DeviceArray.iterate (f, 7, x, "Values", {there}));
%! assert (same_bits (u, v));
%! refused (@() DeviceArray.iterate (f, 7, DeviceArray (x, "Backend", "cpu"), "Values", {here}), "dataType");
%! refused (@() DeviceArray.iterate (@(u, a) u, 7, DeviceArray (x, "Backend", "cuda"), "Values", {there}), "dataType");

%!testif ; on_stand_in ()  # needs the stand-in for the driver, whose memory can be small
%! ## 48 MiB for two arrays with 64 MiB each; a page takes 1 MiB.
%! code = {"m = 2 ^ 17;", "n = 64;", "W = reshape (mod (1:m * n, 1013), m, n);", ...
%!         "u = DeviceArray.iterate (@(u, a, b) 0.5 * u + a - double (b), n, zeros (m, 1), 'Values', {W, single(W > 7)});", ...
%!         "v = zeros (m, 1);", "for k = 1:n, v = 0.5 * v + W(:,k) - (W(:,k) > 7); endfor", "printf ('<%d>\\n', isequal (u, v));", ...
%!         "try, DeviceArray (W); catch err, disp (err.identifier); end_try_catch"};
%! [status, out] = run_octave (code, {"CUDA_STAND_IN_MEMORY=50331648", "STENCIL_BACKEND=cuda"});
%! assert (status == 0 && ! isempty (strfind (out, "<1>\nDeviceArray:outOfMemory")), "%d: %s", status, out);

%!test # no step: the function still gets its values while it is recorded
%! [u, r] = DeviceArray.iterate (@(u, a, b) u + a * b, 0, 1:3, "Values", zeros (2, 0), "Record", @(u) u(2));
%! assert (u, 1:3);
%! assert (size (r), [1 0]);
