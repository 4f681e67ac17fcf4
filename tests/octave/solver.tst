## Schemes for equations whose solutions are known: the order in which their errors fall as the samples come closer.
## Each is also run with one thing wrong, and must lose its order then.

%!function s = changed (right, wrong)
%!  ## The settings of a scheme, some of them wrong.
%!  s = right;
%!  for i = 1:2:numel (wrong)
%!    assert (isfield (s, wrong{i}));
%!    s.(wrong{i}) = wrong{i+1};
%!  endfor
%!endfunction
%!
%!function order = order_of (scheme, parts, varargin)
%!  ## Log2 of the ratio of the errors with N, 2 N and 4 N parts: two numbers.
%!  errors = arrayfun (@(n) scheme (n, varargin), parts * [1 2 4]);
%!  order = log2 (errors(1:2) ./ errors(2:3));
%!endfunction
%!
%!function assert_order (scheme, parts, wrongs)
%!  ## The order is two, without errors of another order near it.
%!  order = order_of (scheme, parts);
%!  assert (order, [2 2], 0.15);
%!  for i = 1:numel (wrongs)
%!    order = order_of (scheme, parts, wrongs{i}{:});
%!    assert (! (abs (order(2) - 2) <= 0.5), "of order %g with %s", order(2), disp (wrongs{i}));
%!  endfor
%!endfunction
%!
%!function taps = heat_taps (lambda)
%!  taps = [lambda, 1 - 2 * lambda, lambda];
%!endfunction
%!
%!function error = fixed_string (n, wrong)
%!  ## Leapfrog with steps of h / 2; from 0 to 1 at rest at t = 0; the largest error at two times.
%!  s = changed (struct ("boundary", 0, "weight", -1), wrong);
%!  x = (1:n-1)' / n;
%!  exact = @(t) sin (pi * x) * cos (pi * t) + 0.5 * sin (3 * pi * x) * cos (3 * pi * t);
%!  u = exact (0);
%!  before = StencilConstantMemory_CUDA (u, [1 6 1] / 4) / 2;
%!  [states, older] = StencilConstantMemory_CUDA (u, [1 6 1] / 4, "Boundary", s.boundary, "Previous", before, ...
%!                                                "Weight", s.weight, "Iterations", 1.4 * n, "Every", 0.7 * n);
%!  assert (size (states), [n - 1, 2]);
%!  error = max (max (abs ([states, older] - [exact(0.35), exact(0.7), exact(0.7 - 0.5 / n)])));
%!endfunction
%!
%!function error = free_string (n, wrong)
%!  s = changed (struct ("boundary", "mirror", "weight", -1), wrong);
%!  x = (0:n)' / n;
%!  exact = @(t) cos (pi * x) * cos (pi * t) + 0.5 * cos (2 * pi * x) * cos (2 * pi * t);
%!  u = exact (0);
%!  before = StencilConstantMemory_CUDA (u, [1 6 1] / 4, "Boundary", s.boundary) / 2;
%!  states = StencilConstantMemory_CUDA (u, [1 6 1] / 4, "Boundary", s.boundary, "Previous", before, ...
%!                                       "Weight", s.weight, "Iterations", 1.4 * n, "Every", 0.7 * n);
%!  error = max (max (abs (states - [exact(0.35), exact(0.7)])));
%!endfunction
%!
%!function error = membrane (n, wrong)
%!  ## A square with a fixed edge, likewise.
%!  s = changed (struct ("boundary", 0, "weight", -1), wrong);
%!  x = (1:n-1)' / n;
%!  exact = @(t) sin (pi * x) * sin (2 * pi * x') * cos (sqrt (5) * pi * t) ...
%!               + 0.5 * sin (2 * pi * x) * sin (pi * x') * cos (sqrt (5) * pi * t);
%!  u = exact (0);
%!  taps = [0 1 0; 1 4 1; 0 1 0] / 4;
%!  before = ConvolutionConstantMemory_CUDA (u, taps) / 2;
%!  states = ConvolutionConstantMemory_CUDA (u, taps, "Boundary", s.boundary, "Previous", before, ...
%!                                           "Weight", s.weight, "Iterations", n, "Every", n / 2);
%!  error = max (max (max (abs (states - cat (3, exact (0.25), exact (0.5))))));
%!endfunction
%!
%!function error = channel (n, wrong)
%!  ## u_t + u_x = D laplace (u): walls at 0 and 1 across, a period of 1 along; steps of h^2 / 2.
%!  s = changed (struct ("boundary", {{{0, 1}, "circular"}}), wrong);
%!  y = (1:n-1)' / n;
%!  x = (0:n-1) / n;
%!  D = 0.1;
%!  dt = 0.5 / n ^ 2;
%!  nu = n * dt;
%!  across = D * dt * n ^ 2;
%!  along = across + nu ^ 2 / 2;
%!  taps = [0, across, 0; along + nu / 2, 1 - 2 * along - 2 * across, along - nu / 2; 0, across, 0];
%!  exact = @(t) y + exp (-5 * pi ^ 2 * D * t) * sin (pi * y) * cos (2 * pi * (x - t)) ...
%!                 + exp (-4 * pi ^ 2 * D * t) * sin (2 * pi * y);
%!  u = ConvolutionConstantMemory_CUDA (exact (0), taps, "Boundary", s.boundary, "Iterations", round (0.25 / dt));
%!  error = max (max (abs (u - exact (0.25))));
%!endfunction
%!
%!function error = rod (n, wrong, t = 0.08)
%!  ## u_t = u_xx + s between two temperatures, with steps of 0.4 h^2.
%!  s = changed (struct ("boundary", {{20, 60}}, "source", 1), wrong);
%!  x = (1:n-1)' / n;
%!  dt = 0.4 / n ^ 2;
%!  steady = 20 + 40 * x + 200 * x .* (1 - x);
%!  exact = @(t) steady - 60 * sin (pi * x) * exp (-pi ^ 2 * t) + 10 * sin (3 * pi * x) * exp (-9 * pi ^ 2 * t);
%!  u = StencilConstantMemory_CUDA (exact (0), heat_taps (0.4), "Boundary", s.boundary, ...
%!                                  "Source", s.source * 400 * dt, "Iterations", round (t / dt));
%!  error = max (abs (u - exact (t)));
%!endfunction
%!
%!function error = heated_rod (n, wrong)
%!  ## Insulated at one end, with a source that is not the same everywhere.
%!  s = changed (struct ("boundary", {{"mirror", 0}}, "source", 1), wrong);
%!  x = (0:n-1)' / n;
%!  dt = 0.4 / n ^ 2;
%!  shape = cos (1.5 * pi * x);
%!  share = 1 - exp (-2.25 * pi ^ 2 * 0.1);
%!  u = StencilConstantMemory_CUDA (zeros (n, 1), heat_taps (0.4), "Boundary", s.boundary, ...
%!                                  "Source", s.source * shape * 2.25 * pi ^ 2 * dt, "Iterations", round (0.1 / dt));
%!  error = max (abs (u - share * shape));
%!endfunction
%!
%!function error = insulated_rod (n, wrong)
%!  ## Both ends are samples.
%!  s = changed (struct ("boundary", "mirror"), wrong);
%!  x = (0:n)' / n;
%!  exact = @(t) 1 + cos (pi * x) * exp (-pi ^ 2 * t);
%!  dt = 0.25 / n ^ 2;
%!  u = StencilConstantMemory_CUDA (exact (0), heat_taps (0.25), "Boundary", s.boundary, ...
%!                                  "Iterations", round (0.1 / dt));
%!  error = max (abs (u - exact (0.1)));
%!endfunction
%!
%!function error = split_box (n, wrong)
%!  ## One direction after the other, each with its own walls and conductivity; steps of 0.4 h^2.
%!  s = changed (struct ("boundary", {{0, "mirror", {0, "mirror"}}}, "dim", [1 2 3], "filters", 1:3), wrong);
%!  along = {(1:n-1) / n, (0:n) / n, (1:n) / n};
%!  conducts = [1 0.7 0.5];
%!  mode = sin (pi * along{1})' .* cos (2 * pi * along{2}) .* reshape (sin (0.5 * pi * along{3}), 1, 1, []);
%!  taps = arrayfun (@(k) heat_taps (0.4 * k), conducts, "UniformOutput", false);
%!  u = StencilConstantMemory_CUDA (mode, taps(s.filters), "Dim", s.dim, "Boundary", s.boundary, ...
%!                                  "Iterations", n ^ 2 / 16);
%!  t = 0.4 / 16;
%!  error = max (abs (u(:) - mode(:) * exp (-pi ^ 2 * t * (conducts * [1; 4; 0.25]))));
%!endfunction

## --- Two time levels ---------------------------------------------------------------

%!test # a string with fixed ends, which are the samples outside
%! assert_order (@fixed_string, 20, {{"boundary", "replicate"}, {"boundary", "mirror"}, {"weight", -0.99}, ...
%!                                   {"weight", 0}});

%!test # a string with free ends, which are samples
%! assert_order (@free_string, 20, {{"boundary", "symmetric"}, {"boundary", {"mirror", "symmetric"}}, ...
%!                                  {"boundary", 0}, {"weight", -0.99}});

%!test # a membrane
%! assert_order (@membrane, 12, {{"boundary", "mirror"}, {"boundary", {0, {0, "symmetric"}}}, {"weight", -0.99}});

## --- Walls and sources: steps of a fixed part of h^2, so that the order in h is 2 ---

%!test # a channel, periodic along and with walls across
%! assert_order (@channel, 8, {{"boundary", {{0, 0}, "circular"}}, {"boundary", {{1, 0}, "circular"}}, ...
%!                             {"boundary", {{0, 1}, "replicate"}}, {"boundary", "circular"}});

%!test # a rod between two temperatures, with a source: on its way, and at the parabola
%! assert_order (@rod, 10, {{"boundary", {60, 20}}, {"boundary", {20, "mirror"}}, {"source", 0}, {"source", 1.01}});
%! assert (rod (20, {}, 4) < 1e-9);
%! assert (rod (20, {"source", 1.01}, 4) > 0.1);

%!test # a source that is not the same everywhere
%! assert_order (@heated_rod, 10, {{"boundary", {"symmetric", 0}}, {"boundary", {0, "mirror"}}, {"source", 0}, ...
%!                                 {"source", 0.99}});

%!test # insulated ends on samples: "symmetric" has them half a sample further out
%! assert_order (@insulated_rod, 10, {{"boundary", "symmetric"}, {"boundary", {"symmetric", "mirror"}}});
%! assert (insulated_rod (40, {}) < 1e-4);
%! assert (insulated_rod (40, {"boundary", "symmetric"}) > 0.02);

## --- Several filters a sweep -------------------------------------------------------

%!test # a box, one direction after the other
%! assert_order (@split_box, 8, {{"boundary", {0, "symmetric", {0, "mirror"}}}, {"boundary", {0, "mirror", 0}}, ...
%!                               {"boundary", {0, "mirror", {"mirror", 0}}}, {"dim", [2 1 3]}, {"filters", [2 1 3]}, ...
%!                               {"filters", [1 2 2]}});
