## The recipes of docs/recipes-solvers.md: each as it stands there, against a known solution or an independent computation with
## ordinary arrays.

%!shared page, place, backend
%! folder = fullfile (fileparts (file_in_loadpath ("run_octave.m")), "..", "..");
%! place = tempname ();
%! mkdir (place);
%! page = save_recipes (fullfile (folder, "docs", "recipes-solvers.md"), "## ", place);
%! addpath (place);
%! backend = getenv ("STENCIL_BACKEND");
%! if (on_stand_in ())
%!   setenv ("STENCIL_BACKEND", "cpu");
%! endif

%!function A = second (n)
%!  ## Differences of second order, with zeros around.
%!  A = spdiags (ones (n, 1) * [1 -2 1], -1:1, n, n);
%!endfunction

%!test # every section has a recipe, and this file runs each
%! assert (unique (page(:,1)), sort ({"Obstacles"; "Noise"; "Walls that change in time"; "Inflow"; "Multigrid"; ...
%!   "Alternating directions"; "Staggered grids with an absorbing layer"; "A pressure solver inside a step"; "Monte Carlo"}));

%!test # obstacles: the graph of open faces as a sparse matrix
%! w = run_recipe (page, "Obstacles");
%! n = w.n;
%! at = reshape (1:n^2, n, n);
%! faces = [at(1:n-1,:)(:), at(2:n,:)(:); at(:,1:n-1)(:), at(:,2:n)(:)];
%! faces = faces(all (w.open(faces), 2),:);
%! D = sparse ([1:rows(faces), 1:rows(faces)], faces, [ones(rows (faces), 1), -ones(rows (faces), 1)], rows (faces), n^2);
%! A = speye (n^2) - 0.2 * D' * D;
%! wanted = w.start(:);
%! for k = 1:500
%!   wanted = A * wanted;
%! endfor
%! assert (w.u(:), wanted, 1e-14);
%! assert (any (w.u(w.open == 1) > 0) && all (w.u(! w.open) == w.start(! w.open)));

%!test # noise: the variance of the stationary distribution, which is normal
%! w = run_recipe (page, "Noise");
%! assert (abs (var (w.x) / w.variance - 1) < 5 * sqrt (2 / numel (w.x)));
%! assert (abs (mean (w.x)) < 5 * sqrt (w.variance / numel (w.x)));
%! assert (abs (mean (w.x .^ 4) / w.variance ^ 2 - 3) < 5 * sqrt (96 / numel (w.x)));

%!test # walls in time: a wave of heat, as the scheme has it; the loop with ordinary arrays
%! w = run_recipe (page, "Walls that change in time");
%! u = zeros (200, 1);
%! for k = 1:w.steps
%!   u += w.lambda * ([w.wall(k); u(1:end-1)] - 2 * u + [u(2:end); 0]);
%! endfor
%! assert (w.u, u, 1e-13);
%! z = exp (1i * w.omega);
%! q = 2 + (z - 1) / w.lambda;
%! g = (q - sqrt (q ^ 2 - 4)) / 2;
%! assert (abs (g) < 1);
%! assert (w.u(1:60), real (g .^ (1:60).' * z ^ w.steps), 0.02);

%!test # inflow: a whole Courant number carries the profile along
%! w = run_recipe (page, "Inflow");
%! assert (w.u, w.profile(:,80:-1:31), 1e-15);

%!test # multigrid: the solution of the sparse system; each cycle leaves a fifth
%! w = run_recipe (page, "Multigrid");
%! A = -(kron (speye (w.n), second (w.n)) + kron (second (w.n), speye (w.n)));
%! exact = reshape (A \ w.b(:), w.n, w.n);
%! assert (w.u, exact, 1e-7 * max (exact(:)));
%! errors = zeros (1, 2);
%! for k = 1:2
%!   u = DeviceArray.iterate (@vCycle, 2 + k, zeros (w.n), w.b, "States", 1);
%!   errors(k) = max (abs (u(:) - exact(:)));
%! endfor
%! assert (errors(2) / errors(1) < 0.25);

%!test # alternating directions: both sparse systems, solved by the host
%! w = run_recipe (page, "Alternating directions");
%! [L, M] = deal (second (w.m), second (w.n));
%! x = w.start;
%! for k = 1:5
%!   x = (speye (w.m) - w.r / 2 * L) \ (x + w.r / 2 * x * M);
%!   x = ((speye (w.n) - w.r / 2 * M) \ (x + w.r / 2 * L * x)')';
%! endfor
%! assert (w.u, x, 1e-14);

%!test # staggered grids: a standing wave as the scheme has it; the layer absorbs
%! [i, j] = ndgrid (1:30, 1:20);
%! mode = cos (pi * 3 * (i - 0.5) / 30) .* cos (pi * 2 * (j - 0.5) / 20);
%! omega = 2 * asin (0.5 * sqrt (sin (pi * 3 / 60) ^ 2 + sin (pi * 2 / 40) ^ 2));
%! p = DeviceArray.iterate (@staggeredStep, 100, mode, zeros (30, 20), zeros (30, 20), 0, 0, 0.5);
%! assert (p, mode * cos (100.5 * omega) / cos (omega / 2), 1e-13);
%! w = run_recipe (page, "Staggered grids with an absorbing layer");
%! rigid = DeviceArray.iterate (@staggeredStep, 800, w.pulse, w.rest, w.rest, 0, 0, w.c);
%! assert (max (abs (w.p(:))) < 1e-4 * max (abs (rigid(:))));

%!test # a pressure solver: no divergence, as by Fourier's transform; vortices decay as the scheme has it
%! w = run_recipe (page, "A pressure solver inside a step");
%! divergence = circshift (w.u, -1, 1) - w.u + circshift (w.v, -1, 2) - w.v;
%! assert (max (abs (divergence(:))) < 1e-13);
%! assert (w.u, w.u0 * (1 + w.dt * w.nu * 4 * (cos (w.h) - 1)) ^ 50, 1e-13);
%! ## One step from any velocities, without convection: the projection by Fourier's transform.
%! [u, v] = deal (0.01 * rand (16), 0.01 * rand (16));
%! [a, b] = DeviceArray.iterate (@projectedStep, 1, u, v, zeros (16), 0, 0, 60, "States", 3);
%! [k, l] = ndgrid (2 * pi * (0:15) / 16);
%! symbol = 2 * cos (k) + 2 * cos (l) - 4;
%! symbol(1) = 1;
%! p = real (ifft2 (fft2 (circshift (u, -1, 1) - u + circshift (v, -1, 2) - v) ./ symbol));
%! assert (a, u - (p - circshift (p, 1, 1)), 1e-12);
%! assert (b, v - (p - circshift (p, 1, 2)), 1e-12);

%!test # Monte Carlo: the formula of Black and Scholes
%! w = run_recipe (page, "Monte Carlo");
%! Phi = @(x) erfc (-x / sqrt (2)) / 2;
%! d = (log (w.s0 / w.k) + (w.rate + w.sigma ^ 2 / 2) * w.t) / (w.sigma * sqrt (w.t));
%! exact = w.s0 * Phi (d) - w.k * exp (-w.rate * w.t) * Phi (d - w.sigma * sqrt (w.t));
%! spread = std (gather (w.paid)) / sqrt (w.paths);
%! assert (abs (w.price - exact) < 5 * spread && spread < 0.01);

%!test # nothing stays behind
%! setenv ("STENCIL_BACKEND", backend);
%! rmpath (place);
%! confirm_recursive_rmdir (false, "local");
%! rmdir (place, "s");
