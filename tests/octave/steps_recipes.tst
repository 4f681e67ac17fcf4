## The recipes of docs/recipes-steps.md and the step on the front page: each as it stands there, against a known solution or
## an independent computation with ordinary arrays, and against the plain loop bit for bit.

%!shared page, place, backend
%! folder = fullfile (fileparts (file_in_loadpath ("run_octave.m")), "..", "..");
%! place = tempname ();
%! mkdir (place);
%! page = save_recipes (fullfile (folder, "docs", "recipes-steps.md"), "## ", place);
%! save_recipes (fullfile (folder, "README.md"), "### ", place);
%! addpath (place);
%! backend = getenv ("STENCIL_BACKEND");
%! if (on_stand_in ())
%!   setenv ("STENCIL_BACKEND", "cpu");
%! endif

%!function same_as_loop (got, f, n, states, varargin)
%!  ## The bits and the classes of the plain loop; more inputs as for plain_steps.
%!  wanted = plain_steps (f, n, states, varargin{:});
%!  for i = 1:numel (got)
%!    [yes, why] = same_bits (got{i}, wanted{i});
%!    assert (yes, "state %d: %s", i, why);
%!  endfor
%!endfunction
%!
%!function L = host_laplace (u)
%!  ## Five points, with the first and the last points repeated outside.
%!  L = conv2 (u([1, 1:end, end],[1, 1:end, end]), [0 1 0; 1 -4 1; 0 1 0], "valid");
%!endfunction

%!test # every section has a recipe, and this file runs each
%! assert (unique (page(2:end,1)), sort ({"Heat with coefficients of each point"; "A wave with an absorbing layer"; ...
%!   "Advection, upwind"; "A reaction with exp"; "An acoustic wave in 3-D, with sources and receivers"; ...
%!   "Conjugate gradients"; "An inflow that changes in time"; "Life, by clamped indices"}));

%!test # heat: Legendre's polynomial of degree 2 keeps its shape and decays, to the second order
%! w = run_recipe (page, "Heat with coefficients of each point");
%! wanted = exp (-6 * w.t) * w.start;
%! assert (w.u, wanted, 1e-3);
%! x = (-1 + 0.025:0.05:1)';
%! start = repmat ((3 * x .^ 2 - 1) / 2, 1, 30);
%! u = DeviceArray.iterate (@heatStep, 250, start, repmat (1 - x .^ 2, 1, 30), 0.2);
%! fine = max (abs (w.u - wanted)(21:60,:)(:));
%! coarse = max (abs (u - exp (-6 * w.t) * start)(11:30,:)(:));
%! assert (coarse / fine > 3.6 && coarse / fine < 4.4);
%! same_as_loop ({w.u}, @heatStep, w.steps, {w.start}, {w.k, w.lambda});

%!test # heat: the same step as a sparse matrix; no heat is lost
%! m = 11;
%! n = 7;
%! k = rand (m, n);
%! u = rand (m, n);
%! got = DeviceArray.iterate (@heatStep, 50, u, k, 0.2);
%! same_as_loop ({got}, @heatStep, 50, {u}, {k, 0.2});
%! difference = @(n) diff (speye (n));
%! mean_of = @(n) abs (difference (n)) / 2;
%! D = [kron(speye (n), difference (m)); kron(difference (n), speye (m))];
%! faces = [kron(speye (n), mean_of (m)); kron(mean_of (n), speye (m))] * k(:);
%! A = speye (m * n) - 0.2 * D' * diag (faces) * D;
%! wanted = u(:);
%! for step = 1:50
%!   wanted = A * wanted;
%! endfor
%! assert (got(:), wanted, 1e-13);
%! assert (sum (got(:)), sum (u(:)), 1e-12);

%!test # wave: a standing one as the scheme has it, to rounding
%! [i, j] = ndgrid (1:30, 1:20);
%! mode = cos (pi * 3 * (i - 0.5) / 30) .* cos (pi * 2 * (j - 0.5) / 20);
%! omega = acos (1 - (sin (pi * 3 / 60) ^ 2 + sin (pi * 2 / 40) ^ 2) / 2);
%! [u, before] = DeviceArray.iterate (@waveStep, 100, mode, mode, 0);
%! assert (u, mode * cos (100.5 * omega) / cos (omega / 2), 1e-11);
%! assert (before, mode * cos (99.5 * omega) / cos (omega / 2), 1e-11);

%!test # wave: the layer absorbs it
%! w = run_recipe (page, "A wave with an absorbing layer");
%! assert (max (abs (w.u(:))) < 0.002 && max (abs (w.before(:))) < 0.002);
%! undamped = DeviceArray.iterate (@waveStep, 1000, w.start, w.start, 0);
%! assert (max (abs (undamped(:))) > 0.02);
%! same_as_loop ({w.u, w.before}, @waveStep, 1000, {w.start, w.start}, {w.a});
%! [u, before] = deal (w.start);
%! for step = 1:1000
%!   [u, before] = deal ((2 * u + host_laplace (u) / 4 - (1 - w.a) .* before) ./ (1 + w.a), u);
%! endfor
%! assert (w.u, u, 1e-12);

%!test # advection: a whole Courant number moves the samples, a half one spreads them as binomials
%! u = rand (12, 9);
%! assert (DeviceArray.iterate (@upwindStep, 5, u, 1, 0), circshift (u, 5, 1));
%! assert (DeviceArray.iterate (@upwindStep, 5, u, -1, 0), circshift (u, -5, 1));
%! assert (DeviceArray.iterate (@upwindStep, 5, u, 0, 1), circshift (u, 5, 2));
%! assert (DeviceArray.iterate (@upwindStep, 5, u, 0, -1), circshift (u, -5, 2));
%! point = zeros (12, 9);
%! point(1,4) = 1;
%! wanted = zeros (12, 9);
%! wanted(1:7,4) = [1 6 15 20 15 6 1] / 64;
%! assert (DeviceArray.iterate (@upwindStep, 6, point, 0.5, 0), wanted, 1e-15);

%!test # advection: a disc goes round; of ordinary arrays the same step gives the same
%! w = run_recipe (page, "Advection, upwind");
%! assert (min (w.u(:)) >= 0 && max (w.u(:)) <= 1 && max (w.u(:)) > 0.3);
%! angle = 300 / w.n;
%! turned = sum ((w.x(:) + 1i * w.y(:)) .* w.u(:)) / sum (w.u(:));
%! assert (abs (turned / (20 * exp (1i * angle)) - 1) < 0.1 || abs (turned / (20 * exp (-1i * angle)) - 1) < 0.1);
%! same_as_loop ({w.u}, @upwindStep, 300, {w.start}, {w.a, w.b});
%! u = w.start;
%! for step = 1:300
%!   u = upwindStep (u, w.a, w.b);
%! endfor
%! assert (w.u, u, 1e-13);

%!test # advection: Burgers' equation, along its characteristics
%! w = run_recipe (page, "Advection, upwind", 2);
%! f = @(u) upwindStep (u, 0.5 * u, 0);
%! start = cos (2 * pi * (1:100)' / 100) * ones (1, 4);
%! same_as_loop ({w.u}, f, 20, {start});
%! exact = zeros (100, 1);
%! for i = 1:100
%!   exact(i) = fzero (@(u) u - cos (2 * pi * (i - 10 * u) / 100), [-1.1 1.1]);
%! endfor
%! assert (w.u(:,1), exact, 0.05);
%! assert (max (abs (start(:,1) - exact)) > 0.2);

%!test # inflow: what came in a/dx * t ago, smeared by binomials; of ordinary arrays the same step gives the same
%! w = run_recipe (page, "An inflow that changes in time");
%! same_as_loop ({w.u}, @inflowStep, w.steps, {zeros(w.m, w.n)}, {w.a}, struct ("Values", {{w.q}}));
%! u = zeros (w.m, w.n);
%! for step = 1:w.steps
%!   u = inflowStep (u, w.q(:,step), w.a);
%! endfor
%! assert (w.u, u, 1e-14);
%! ## Row i has the inflow of s steps ago with the probability of i - 1 moves among s, each with probability a.
%! i = 30;
%! s = i-1:w.steps-1;
%! weights = exp (gammaln (s + 1) - gammaln (i) - gammaln (s - i + 2)) .* w.a ^ i .* (1 - w.a) .^ (s - i + 1);
%! assert (w.u(i,:), weights * w.q(:,w.steps-s)', 1e-12);
%! ## A whole Courant number moves it by one row a step.
%! u = DeviceArray.iterate (@inflowStep, w.steps, u, 1, "States", 1, "Values", {w.q});
%! assert (u, w.q(:,end:-1:end-w.m+1)');

%!test # reaction: all burns, and no energy is lost; ordinary arrays give the same
%! w = run_recipe (page, "A reaction with exp");
%! assert (w.info.Reason, "until");
%! assert (mod (w.info.Steps, 20) == 0 && w.info.Steps < 5000 && max (w.y(:)) < 0.01);
%! start = 0.6 * ones (60);
%! start(1:10,:) = 1.6;
%! asked = struct ("Until", @(T, y) max (y(:)) < 0.01, "Check", 20);
%! [~, ~, steps] = plain_steps (@burnStep, 5000, {start, ones(60)}, {0.02, 0.2}, asked);
%! assert (w.info.Steps, steps);
%! same_as_loop ({w.T, w.y}, @burnStep, steps, {start, ones(60)}, {0.02, 0.2});
%! assert (sum (w.T(:) + w.y(:)), sum (start(:)) + 3600, 1e-8);
%! T = start;
%! y = ones (60);
%! for step = 1:200
%!   burnt = 8 * y .* exp (-6 ./ T);
%!   T += 0.2 * host_laplace (T) + burnt;
%!   y -= burnt;
%! endfor
%! [got, fuel] = DeviceArray.iterate (@burnStep, 200, start, ones (60), 0.02, 0.2);
%! assert (got, T, 1e-11);
%! assert (fuel, y, 1e-11);

%!test # reaction: without a neighbour the time to a temperature is an integral, to the first order
%! took = @(T) quadgk (@(T) exp (6 ./ T) ./ (400 * (2 - T)), 1, T);
%! errors = [0 0];
%! for i = 1:2
%!   [T, y] = DeviceArray.iterate (@burnStep, 100 * i, ones (4), ones (4), 0.003 / i, 0);
%!   errors(i) = took (T(2,3)) - 0.3;
%!   assert (T + y, 2 * ones (4), 1e-13);
%! endfor
%! assert (abs (errors(1)) < 0.01);
%! assert (errors(1) / errors(2), 2, 0.1);

%!test # acoustic wave: each source adds w (t - r / c) h / (4 pi r)
%! w = run_recipe (page, "An acoustic wave in 3-D, with sources and receivers");
%! assert (size (w.traces), [2 w.steps]);
%! t = w.dt * (1:w.steps);
%! for i = 1:2
%!   near = w.h * hypot ([0 4](i), 12);
%!   far = w.h * hypot ([4 0](i), 12);
%!   wanted = w.ricker (t - near / w.c) * w.h / (4 * pi * near);
%!   other = -0.5 * w.ricker (t - 0.03 - far / w.c) * w.h / (4 * pi * far);
%!   wanted += other;
%!   assert (w.traces(i,:), wanted, 0.03 * max (abs (wanted)));
%! endfor

%!test # acoustic wave: the plain loop, and sums of ordinary arrays
%! n = 20;
%! rest = zeros (n, n, n);
%! s1 = s2 = rest;
%! s1(8,9,10) = 1;
%! s2(12,9,11) = 1;
%! c2 = 0.09;
%! a = 0.1 * rand (n, n, n);
%! W = randn (2, 30);
%! record = @(p, before) p(3:5:18,9,10);
%! [p, before, traces] = DeviceArray.iterate (@acousticStep, 30, rest, rest, c2, a, s1, s2, "Values", W, "Record", record);
%! asked = struct ("Values", W, "Record", record);
%! [wanted, recorded] = plain_steps (@acousticStep, 30, {rest, rest}, {c2, a, s1, s2}, asked);
%! assert (same_bits (p, wanted{1}) && same_bits (before, wanted{2}));
%! assert (same_bits (gather (traces), recorded));
%! taps = [-1/560 8/315 -1/5 8/5 -205/72 8/5 -1/5 8/315 -1/560]';
%! [u, last] = deal (rest);
%! for step = 1:30
%!   L = convn (u, taps, "same") + convn (u, taps', "same") + convn (u, reshape (taps, 1, 1, 9), "same");
%!   [u, last] = deal ((2 * u - (1 - a) .* last + c2 * (L + W(1,step) * s1 + W(2,step) * s2)) ./ (1 + a), u);
%! endfor
%! assert (p, u, 1e-12);

%!test # conjugate gradients: what A \ b gives, and they end when they are to
%! w = run_recipe (page, "Conjugate gradients");
%! line = spdiags (ones (40, 1) * [-1 2 -1], -1:1, 40, 40);
%! A = kron (speye (40), line) + kron (line, speye (40));
%! assert (w.x(:), A \ w.b(:), 1e-7 * max (abs (w.x(:))));
%! squares = gather (w.squares);
%! assert (w.info.Reason, "until");
%! assert (size (squares), [1 w.info.Steps]);
%! assert (mod (w.info.Steps, 10) == 0 && squares(end) < w.small && squares(end-10) >= w.small);
%! assert (squares(end), w.rho);
%! start = sum (w.b(:) .^ 2);
%! asked = struct ("Record", @(x, r, d, rho) rho);
%! [wanted, recorded] = plain_steps (@gradientsStep, w.info.Steps, {zeros(40), w.b, w.b, start}, {}, asked);
%! assert (same_bits (w.x, wanted{1}) && same_bits (w.r, wanted{2}) && same_bits (w.d, wanted{3}));
%! assert (same_bits (squares, recorded));

%!test # Life: what conv2 gives of ordinary arrays, with the edges repeated
%! w = run_recipe (page, "Life, by clamped indices");
%! assert (size (w.movie), [100 100 4]);
%! X = w.start;
%! for step = 1:200
%!   around = conv2 (double (X([1, 1:end, end],[1, 1:end, end])), [1 1 1; 1 0 1; 1 1 1], "valid");
%!   X = (X & around == 2) | around == 3;
%!   if (mod (step, 50) == 0)
%!     assert (isequal (gather (w.movie)(:,:,step/50), X));
%!   endif
%! endfor
%! assert (any (X(:)));

%!test # Life: a glider moves by one cell in four generations; numbers become truth values
%! X = zeros (20);
%! X(5:7,5:7) = [0 1 0; 0 0 1; 1 1 1];
%! got = DeviceArray.iterate (@lifeStep, 24, X);
%! assert (islogical (got) && isequal (got, circshift (X, [6 6])));
%! same_as_loop ({got}, @lifeStep, 24, {X});
%! assert (isequal (DeviceArray.iterate (@lifeStep, 1, X), logical (lifeStep (X))));

%!test # the step on the front page: GrayScott_Demo's, and the plain loop's bits
%! u = ones (40);
%! v = zeros (40);
%! v(10:16,20:26) = 0.25;
%! [p, q] = DeviceArray.iterate (@grayScott, 60, u, v);
%! same_as_loop ({p, q}, @grayScott, 60, {u, v});
%! laplace = @(u) conv2 (u([end, 1:end, 1],[end, 1:end, 1]), [1 4 1; 4 -20 4; 1 4 1] / 6, "valid");
%! for step = 1:60
%!   uvv = u .* v .^ 2;
%!   [u, v] = deal (u + 0.16 * laplace (u) - uvv + 0.037 * (1 - u), v + 0.08 * laplace (v) + uvv - (0.037 + 0.06) * v);
%! endfor
%! assert (p, u, 1e-12);
%! assert (q, v, 1e-12);

%!test # a step that was compiled, in a loop of one's own
%! u = DeviceArray (rand (20));
%! k = DeviceArray (rand (20));
%! step = DeviceArray.compile (@heatStep, u, k, 0.2);
%! v = w = u;
%! for i = 1:3
%!   v = step (v, k, 0.2);
%!   w = heatStep (w, k, 0.2);
%! endfor
%! assert (same_bits (gather (v), gather (w)));

%!function on_both (f, n, states, others, varargin)
%!  ## The GPU and the processor give the same bits of states and records, and the same number of steps.
%!  backends = {"cuda", "cpu"};
%!  for i = 1:2
%!    there = cellfun (@(u) DeviceArray (u, "Backend", backends{i}), states, "UniformOutput", false);
%!    records = any (strcmp (varargin(1:2:end), "Record"));
%!    results{i} = cell (1, numel (there) + records + 1);
%!    [results{i}{:}] = DeviceArray.iterate (f, n, there{:}, others{:}, "States", numel (there), varargin{:});
%!  endfor
%!  assert (results{1}{end}.Steps, results{2}{end}.Steps);
%!  for k = 1:numel (results{1}) - 1
%!    [yes, why] = same_bits (gather (results{1}{k}), gather (results{2}{k}));
%!    assert (yes, "%s, output %d: %s", func2str (f), k, why);
%!  endfor
%!endfunction

%!function in_both_classes (f, n, states, others, varargin)
%!  on_both (f, n, states, others, varargin{:});
%!  on_both (f, n, cellfun (@single, states, "UniformOutput", false), cellfun (@single, others, "UniformOutput", false), ...
%!           varargin{:});
%!endfunction
%!
%!function [next, p] = basin_step (p, before, open)
%!  ## WaveEquation_Demo's, with obstacles.
%!  next = open .* ConvolutionConstantMemory_CUDA (p, [0 1 0; 1 4 1; 0 1 0] / 4, "Boundary", "symmetric") - before;
%!endfunction
%!
%!function u = live_step (u)
%!  ## GameOfLife_Demo's.
%!  n = ConvolutionConstantMemory_CUDA (u, single ([1 1 1; 1 0 1; 1 1 1]), "Boundary", "circular");
%!  u = single ((n == 3) | (u & (n == 2)));
%!endfunction
%!
%!function [next, p] = section_step (p, before, w, c2, damping, source)
%!  ## AcousticWave_Demo's.
%!  taps = [-1/560, 8/315, -1/5, 8/5, -205/72, 8/5, -1/5, 8/315, -1/560];
%!  L = StencilConstantMemory_CUDA (p, taps, "Dim", 1) + StencilConstantMemory_CUDA (p, taps, "Dim", 2);
%!  next = (2 * p - (1 - damping) .* before + c2 .* (L + w * source)) ./ (1 + damping);
%!endfunction

%!testif ; has_gpu ()  # needs a GPU
%! ## tests/run has NVIDIA's assembler say of these kernels that their registers suffice.
%! if (! isempty (getenv ("CUDA_STAND_IN_PTX")))
%!   examples = fullfile (getenv ("CUDA_STAND_IN_PTX"), "examples");
%!   [~, ~] = mkdir (examples);
%!   setenv ("CUDA_STAND_IN_PTX", examples);
%! endif
%! k = rand (20, 17);
%! u = rand (20, 17);
%! in_both_classes (@heatStep, 6, {u}, {k, 0.2});
%! on_both (@heatStep, 6, {single(u)}, {k, 0.2});
%! in_both_classes (@waveStep, 6, {u, u}, {0.1 * k});
%! in_both_classes (@basin_step, 6, {u, u}, {k > 0.2});
%! in_both_classes (@upwindStep, 6, {u}, {k - 0.5, 0.3}, "Every", 2);
%! in_both_classes (@inflowStep, 6, {u}, {0.3}, "Values", {rand(17, 6)});
%! in_both_classes (@burnStep, 40, {1 + u, k}, {0.02, 0.2}, "Until", @(T, y) max (y(:)) < 0.2, "Check", 3);
%! rest = zeros (12, 11, 10);
%! s1 = s2 = rest;
%! s1(5,5,5) = s2(6,7,8) = 1;
%! in_both_classes (@acousticStep, 5, {rest, rest}, {0.09, 0.1 * rand(12, 11, 10), s1, s2}, ...
%!                  "Values", randn (2, 5), "Record", @(p, before) p(3:4,5,6));
%! in_both_classes (@section_step, 5, {u, u}, {0.1 * k, 0.1 * k, k > 0.9}, ...
%!                  "Values", randn (1, 5), "Record", @(p, before) p(3,4:6));
%! b = rand (15);
%! in_both_classes (@gradientsStep, 60, {0 * b, b, b, sum(b(:) .^ 2)}, {}, "Record", @(x, r, d, rho) rho, ...
%!                  "Until", @(x, r, d, rho) rho < 1e-18, "Check", 4);
%! on_both (@lifeStep, 12, {rand(30) > 0.7}, {}, "Every", 4);
%! in_both_classes (@lifeStep, 12, {double(rand (30) > 0.7)}, {});
%! on_both (@live_step, 12, {single(rand (30) > 0.7)}, {});
%! in_both_classes (@grayScott, 8, {u, k}, {});

%!test # what this file has made goes
%! rmpath (place);
%! setenv ("STENCIL_BACKEND", backend);
%! confirm_recursive_rmdir (false, "local");
%! rmdir (place, "s");
