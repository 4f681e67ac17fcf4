function result = ConjugateGradients_Demo (varargin)
%ConjugateGradients_Demo  Poisson's equation by conjugate gradients.
%
%   ConjugateGradients_Demo
%   ConjugateGradients_Demo (FOLDER)
%   ConjugateGradients_Demo (FOLDER, BACKEND)
%   RESULT = ConjugateGradients_Demo (...)
%
%   Solves Poisson's equation on the unit square by conjugate gradients:
%       -laplace (u) = f,  u = 0 on the walls
%   The matrix is never made: its product with a field is one call of
%   ConvolutionConstantMemory_CUDA with the five-point Laplacian, with zeros
%   outside, where the walls are. The scalars of a step are dot products, which
%   DOT gives and later operations of the same step use.
%
%   DeviceArray.iterate records this step and takes the steps in one call. Its
%   option 'Record' collects the residual's norm in each step, and 'Until' ends
%   the run when that is 1e-10 of the norm of f, which it asks every ten steps.
%
%   f is made so that the solution is known:
%       u = sin (pi x) sin (2 pi y) exp (x)
%   The scheme is of second order: with half the h the error is to be a
%   quarter. On a small grid the host's A \ b, with the same matrix as a sparse
%   one, is compared with too. The two differ by the residual that is left,
%   times the condition number of A at most: that is the tolerance.
%
%   One figure: the residual over the steps, for three grids, and the solution.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as gradients_demo.png. With FOLDER it is
%   always written, into FOLDER (made when it is missing), and no window opens.
%   FOLDER may be '' to give none. BACKEND is 'auto', 'cuda' or 'cpu', as for
%   DeviceArray.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               u           the solution on the finest grid
%               errors      the largest error on each of three grids
%               steps       how many steps each of them took
%               difference  from A \ b on a small grid, as a part of its norm
%               tolerance   what it may be
%               same        whether the plain loop gives the same bits
%               seconds     how long the steps on the finest grid took
%               backend     'cuda' or 'cpu': what it ran on
%               files       cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also DeviceArray, ConvolutionConstantMemory_CUDA, AcousticWave_Demo,
%   compile_mex.

  narginchk (0, 2);
  stage = demoStage ('ConjugateGradients_Demo', varargin{:});

  grids = [32 64 128];
  errors = zeros (1, 3);
  residuals = cell (1, 3);
  fprintf ('\nPoisson''s equation by conjugate gradients\n');
  for k = 1:3
    [u, residuals{k}, info, seconds] = solve (grids(k), stage.options);
    errors(k) = max (max (abs (u - problem (grids(k)))));
    fprintf ('  h = 1/%-3d         off by %.2e after %d steps (%s), in %.3f s\n', ...
             grids(k), errors(k), info.Steps, info.Reason, seconds);
  end
  steps = cellfun (@numel, residuals);
  orders = log2 (errors(1:2) ./ errors(2:3));
  fprintf ('  the order         %.2f and %.2f, of 2\n', orders);

  [difference, tolerance] = againstBackslash (24, stage.options);
  fprintf ('  against A \\ b     off by %.1e of it, %.1e is allowed\n', difference, tolerance);
  [plain, last, looped] = plainLoop (grids(3), steps(3), stage.options);
  same = isequal (plain, u) && isequal (last, residuals{3}(end));
  words = {'OTHER BITS', 'the same bits'};
  fprintf ('  the plain loop    %s, in %.2f s: %.1f times as long\n', words{1 + same}, looped, looped / seconds);
  again = @(options) plainLoop (grids(3), steps(3), options);
  fprintf ('  other backend     %s\n', demoOtherBackend (stage, u, again));
  files = stage.draw ('gradients_demo.png', [1200 520], @() drawSolution (grids, residuals, u));

  if nargout > 0
    result = struct ('u', u, 'errors', errors, 'steps', steps, 'difference', difference, 'tolerance', tolerance, ...
                     'same', same, 'seconds', seconds, 'backend', stage.device.Backend, 'files', {files});
  end
end

% A step of conjugate gradients: r is the residual, d the direction, rho the square of r's norm.
function [u, r, d, rho] = gradients (u, r, d, rho)
  Ad = ConvolutionConstantMemory_CUDA (d, [0 -1 0; -1 4 -1; 0 -1 0]);
  alpha = rho / dot (d(:), Ad(:));
  u = u + alpha * d;
  r = r - alpha * Ad;
  before = rho;
  rho = dot (r(:), r(:));
  d = r + (rho / before) * d;
end

function [u, residuals, info, seconds] = solve (n, options)
  [~, b] = problem (n);
  r = DeviceArray (b, options{:});
  rho = dot (r(:), r(:));
  small = 1e-20 * rho;
  watch = tic ();
  [u, ~, ~, ~, residuals, info] = ...
    DeviceArray.iterate (@gradients, 10 * n, 0 * r, r, r, rho, 'States', 4, ...
                         'Record', @(u, r, d, rho) sqrt (rho), 'Until', @(u, r, d, rho) rho <= small);
  u = gather (u);
  seconds = toc (watch);
  residuals = gather (residuals);
end

function [u, residual, seconds] = plainLoop (n, steps, options)
  [~, b] = problem (n);
  r = DeviceArray (b, options{:});
  u = 0 * r;
  d = r;
  rho = dot (r(:), r(:));
  watch = tic ();
  for step = 1:steps
    [u, r, d, rho] = gradients (u, r, d, rho);
    residual = sqrt (rho);
  end
  u = gather (u);
  seconds = toc (watch);
end

% The solution on the points between the walls, and h^2 f.
function [u, b] = problem (n)
  [x, y] = meshgrid ((1:n-1) / n);
  u = sin (pi * x) .* sin (2 * pi * y) .* exp (x);
  % u_xx = (1 - pi^2) u + 2 pi cos (pi x) sin (2 pi y) exp (x), and u_yy = -4 pi^2 u
  b = ((5 * pi ^ 2 - 1) * u - 2 * pi * cos (pi * x) .* sin (2 * pi * y) .* exp (x)) / n ^ 2;
end

function [difference, tolerance] = againstBackslash (n, options)
  u = solve (n, options);
  [~, b] = problem (n);
  line = spdiags (ones (n - 1, 1) * [-1 2 -1], -1:1, n - 1, n - 1);
  A = kron (speye (n - 1), line) + kron (line, speye (n - 1));
  exact = A \ b(:);
  difference = norm (u(:) - exact) / norm (exact);
  % Rounding moves the true residual away from that of the steps by some eps of the numbers that are added to it.
  condition = 1 / tan (pi / (2 * n)) ^ 2;
  tolerance = condition * (1e-10 + 100 * eps);
end

function drawSolution (grids, residuals, u)
  ax = axes ('Position', [0.08 0.13 0.4 0.76]);
  marks = {'-', '--', '-.'};
  for k = 1:numel (grids)
    [~, b] = problem (grids(k));
    semilogy (ax, residuals{k} / norm (b(:)), marks{k}, 'LineWidth', 1.5);
    hold (ax, 'on');
  end
  set (ax, 'Box', 'on', 'FontSize', 11);
  grid (ax, 'on');
  xlabel (ax, 'steps (count)');
  ylabel (ax, 'norm of the residual (of that of f)');
  legend (ax, arrayfun (@(n) sprintf ('h = 1/%d', n), grids, 'UniformOutput', false), 'Location', 'northeast');
  title (ax, 'residual', 'FontSize', 14, 'FontWeight', 'bold');

  share = linspace (-1, 1, 255)';
  colormap (interp1 ([-1 -0.5 0 0.5 1], [0.03 0.15 0.42; 0.25 0.55 0.82; 1 1 1; 0.92 0.5 0.3; 0.5 0.05 0.1], share));
  ax = axes ('Position', [0.57 0.13 0.33 0.76]);
  x = (1:grids(end) - 1) / grids(end);
  imagesc (x, x, u, max (abs (u(:))) * [-1 1]);
  axis (ax, 'image');
  set (ax, 'YDir', 'normal', 'Box', 'on', 'FontSize', 11, 'TickLength', [0 0]);
  xlabel (ax, 'x (of the side)');
  ylabel (ax, 'y (of the side)');
  title (ax, 'solution', 'FontSize', 14, 'FontWeight', 'bold');
  demoColorbar (ax, [0.925 0.13 0.014 0.76], 'u (dimensionless)');
end
