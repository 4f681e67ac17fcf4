function result = HeatEquation_Demo (varargin)
%HeatEquation_Demo  The heat equation, by sweeps of three taps.
%
%   HeatEquation_Demo
%   HeatEquation_Demo (FOLDER)
%   RESULT = HeatEquation_Demo (...)
%
%   Solves u_t = u_xx on a rod from 0 to 1, step by step: with samples h apart
%   and steps of lambda h^2, a step is a sweep of the taps
%       [lambda, 1 - 2 lambda, lambda]
%   and the option 'Iterations' of StencilConstantMemory_CUDA takes as many of
%   them in one call as there are between two moments of interest. What happens
%   at the ends of the rod is said by the option 'Boundary'.
%
%   Ends at temperature 0 ('Boundary', 0): a sum of three sines, of which it is
%   known how each fades. Once with lambda = 0.4 and once with 1/6, where the
%   largest parts of the errors in time and in space cancel: the error is then
%   of the fourth order of h, and not of the second. The ends are no samples:
%   a constant stands one sample outside the array, so of n + 1 parts the array
%   holds the n nodes between the ends,
%       h = 1 / (n + 1);
%       x = (1:n)' * h;
%
%   Insulated ends ('Boundary', 'symmetric'): a rod with one hot end. No heat is
%   lost, so the mean temperature stays, and in the end all of it has that. The
%   ends stand half a sample outside, and samples are the middles of n parts.
%   For ends that are samples themselves, x = (0:n)' / n, it is 'mirror'.
%
%   One figure: the first rod's temperature as an image over position and time,
%   the second's at some moments, and the first one's error. Position, time and
%   temperature are dimensionless here.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as heat_demo.png. With FOLDER it is always
%   written, into FOLDER (made when it is missing), and no window opens.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               maxError   largest errors at any moment, for lambda = 0.4 and
%                          1/6
%               meanDrift  largest change of the insulated rod's mean
%               sweeps     how many sweeps were done
%               seconds    how long they took
%               backend    'cuda' or 'cpu': what it ran on
%               files      cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also StencilConstantMemory_CUDA, Diffusion_Demo, Advection_Demo,
%   StencilConstantMemory_Demo, compile_mex.

  narginchk (0, 1);
  stage = demoStage ('HeatEquation_Demo', varargin{:});
  moments = 50;

  % ---- Ends at temperature 0 ----------------------------------------------
  % The ends themselves are no samples: they stand where the first samples
  % outside are, and have the temperature that the boundary says.
  n = 199;
  h = 1 / (n + 1);
  x = (1:n)' * h;
  waves   = [1 2 5];
  heights = [1 -0.5 0.7];
  exact = @(t) sin (pi * x * waves) * (heights .* exp (-(pi * waves) .^ 2 * t))';

  % In time the moments are 80 h^2 apart, which is a whole number of either step.
  lambdas = [0.4, 1/6];
  perMoment = [200, 480];
  t = (0:moments) * 80 * h ^ 2;
  errors = zeros (numel (lambdas), moments + 1);
  rod = zeros (n, moments + 1);
  sweeps = 0;
  seconds = 0;
  for k = 1:numel (lambdas)
    rod(:,1) = exact (0);
    watch = tic ();
    for m = 1:moments
      rod(:,m+1) = StencilConstantMemory_CUDA (rod(:,m), heatTaps (lambdas(k)), ...
                                               'Boundary', 0, 'Iterations', perMoment(k));
    end
    seconds = seconds + toc (watch);
    sweeps = sweeps + moments * perMoment(k);
    for m = 0:moments
      errors(k,m+1) = max (abs (rod(:,m+1) - exact (t(m+1))));
    end
  end
  maxError = max (errors, [], 2)';

  % ---- Insulated ends -------------------------------------------------------
  % Here the ends lie half a sample outside, between a sample and its mirror image.
  xInsulated = ((1:n)' - 0.5) / n;
  insulated = zeros (n, moments + 1);
  insulated(:,1) = xInsulated < 0.3;
  watch = tic ();
  for m = 1:moments
    insulated(:,m+1) = StencilConstantMemory_CUDA (insulated(:,m), heatTaps (0.4), ...
                                                   'Boundary', 'symmetric', 'Iterations', perMoment(1));
  end
  seconds = seconds + toc (watch);
  sweeps = sweeps + moments * perMoment(1);
  meanDrift = max (abs (mean (insulated) - mean (insulated(:,1))));

  fprintf ('\nu_t = u_xx on a rod of %d samples: %d sweeps of three taps in %.0f ms\n', n, sweeps, 1000 * seconds);
  fprintf ('  ends at 0         lambda 0.4: off by at most %.1e, of the second order in h\n', maxError(1));
  fprintf ('                    lambda 1/6: off by at most %.1e, of the fourth\n', maxError(2));
  fprintf ('  insulated ends    the mean stays %.4f: it moved by at most %.1e\n', mean (insulated(:,1)), meanDrift);
  files = stage.draw ('heat_demo.png', [1200 760], @() drawHeat (x, rod, xInsulated, insulated, t, errors));

  if nargout > 0
    result = struct ('maxError', maxError, 'meanDrift', meanDrift, 'sweeps', sweeps, 'seconds', seconds, ...
                     'backend', stage.device.Backend, 'files', {files});
  end
end

function taps = heatTaps (lambda)
  taps = [lambda, 1 - 2 * lambda, lambda];
end

function drawHeat (x, rod, xInsulated, insulated, t, errors)
  early = t <= 0.04;   % when most happens
  ends = zeros (1, nnz (early));
  imageOverTime ([0.085 0.57 0.33 0.36], [0; x; 1], [ends; rod(:,early); ends], t(early), 'Ends at temperature 0');
  moments = [0 1 2 4 8 16 50] + 1;
  lines = profiles ([0.60 0.57 0.385 0.36], xInsulated, insulated(:,moments), t(moments), ...
            [-0.1 1.2], 'Insulated ends');
  legend (lines, arrayfun (@(t) sprintf ('t = %.3f', t), t(moments), 'UniformOutput', false), ...
          'Location', 'northeast');
  legend ('boxoff');

  blue   = [0.00 0.32 0.62];
  orange = [0.90 0.42 0.00];
  ax = axes ('Position', [0.085 0.09 0.90 0.34]);
  % At the start there is no error, and a logarithmic scale has no zero.
  lines = semilogy (ax, t(2:end), errors(1,2:end), '-', t(2:end), errors(2,2:end), '-');
  set (lines(1), 'Color', orange, 'LineWidth', 3);
  set (lines(2), 'Color', blue,   'LineWidth', 3);
  powers = -12:2:-2;
  dress (ax, [0 t(end)], [1e-12 1e-2], 'Ends at temperature 0: largest error along the rod');
  set (ax, 'XTick', 0:0.02:0.1, 'YTick', 10 .^ powers, 'YMinorTick', 'off', 'YMinorGrid', 'off', ...
       'YTickLabel', arrayfun (@(p) sprintf ('10^{%d}', p), powers, 'UniformOutput', false));
  xlabel (ax, 'time t (dimensionless)');
  ylabel (ax, 'error of u (dimensionless)');
  legend (lines, {'lambda = 0.4: second order', 'lambda = 1/6: fourth order'}, 'Location', 'northeast');
  legend ('boxoff');
end

% The temperature along a rod as time goes on: blue below 0, white at 0, red above.
function imageOverTime (place, x, values, t, name)
  share = linspace (-1, 1, 255)';
  colormap (interp1 ([-1 -0.5 0 0.5 1], [0.03 0.15 0.42; 0.25 0.55 0.82; 1 1 1; 0.92 0.5 0.3; 0.5 0.05 0.1], share));
  ax = axes ('Position', place);
  imagesc (x, t, values', [-1 1] * max (abs (values(:))));
  dress (ax, [0 1], t([1 end]), name);
  set (ax, 'YDir', 'normal', 'XGrid', 'off', 'YGrid', 'off', 'XTick', 0:0.2:1, 'YTick', 0:0.01:0.04);
  xlabel (ax, 'position x (dimensionless)');
  ylabel (ax, 'time t (dimensionless)');
  demoColorbar (ax, [place(1) + place(3) + 0.015, place(2), 0.015, place(4)], 'temperature u (dimensionless)');
end

% The temperature along a rod at some moments, from hot colours to cold ones.
function lines = profiles (place, x, values, t, limits, name)
  hot  = [0.80 0.10 0.05];
  cold = [0.10 0.30 0.65];
  ax = axes ('Position', place);
  lines = plot (ax, x, values, '-');
  for k = 1:numel (t)
    share = (k - 1) / (numel (t) - 1);
    set (lines(k), 'Color', (1 - share) * hot + share * cold, 'LineWidth', 2);
  end
  dress (ax, [0 1], limits, name);
  set (ax, 'XTick', 0:0.2:1);
  xlabel (ax, 'position x (dimensionless)');
  ylabel (ax, 'temperature u (dimensionless)');
end

function dress (ax, xs, ys, name)
  set (ax, 'XLim', xs, 'YLim', ys, 'XGrid', 'on', 'YGrid', 'on', 'Box', 'off', ...
       'FontSize', 11, 'TickDir', 'out', 'TickLength', [0.005 0.005]);
  title (ax, name, 'FontSize', 14, 'FontWeight', 'bold');
end
