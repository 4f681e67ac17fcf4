function result = Advection_Demo (varargin)
%Advection_Demo  A pulse carried round a ring.
%
%   Advection_Demo
%   Advection_Demo (FOLDER)
%   RESULT = Advection_Demo (...)
%
%   Solves u_t + u_x = 0 on a ring: a pulse that moves and keeps its shape. Each
%   step moves it by half a sample, so each is a sweep of taps that interpolate
%   half way between samples. The option 'Boundary', 'circular' makes a ring of
%   the line, and 'Iterations' takes the steps of a whole turn in one call. Then
%   the pulse should be where it began, and what it is not is the error.
%
%   Four sets of taps, through as many neighbours a polynomial of degree
%     1    the upwind scheme: the pulse melts
%     2    the Lax-Wendroff scheme: it leaves ripples behind
%     4    five taps: good for some turns
%     20   twenty-one taps
%
%   One figure, two stacked plots: the pulse after ten turns, and the error turn
%   by turn.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as advection_demo.png. With FOLDER it is
%   always written, into FOLDER (made when it is missing), and no window opens.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               degree     [1 2 4 20]
%               maxError   largest error after ten turns, for each degree
%               meanDrift  largest change of the mean, of all
%               sweeps     how many sweeps were done
%               seconds    how long they took
%               backend    'cuda' or 'cpu': what it ran on
%               files      cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also StencilConstantMemory_CUDA, HeatEquation_Demo, Diffusion_Demo,
%   StencilConstantMemory_Demo, compile_mex.

  narginchk (0, 1);
  stage = demoStage ('Advection_Demo', varargin{:});

  n = 256;
  turns = 10;
  nu = 0.5;                 % samples a step; all four are stable up to 1
  steps = n / nu;           % of a turn
  degree = [1 2 4 20];
  x = (0:n-1) / n;
  pulse = exp (-0.5 * ((x - 0.5) / 0.02) .^ 2);

  after = zeros (numel (degree), n);
  errors = zeros (numel (degree), turns);
  meanDrift = 0;
  watch = tic ();
  for k = 1:numel (degree)
    u = pulse;
    taps = transportTaps (degree(k), nu);
    for turn = 1:turns
      u = StencilConstantMemory_CUDA (u, taps, 'Boundary', 'circular', 'Iterations', steps);
      errors(k,turn) = max (abs (u - pulse));
      meanDrift = max (meanDrift, abs (mean (u) - mean (pulse)));
    end
    after(k,:) = u;
  end
  seconds = toc (watch);
  sweeps = numel (degree) * turns * steps;

  fprintf ('\nA pulse on a ring of %d samples, %d turns: %d sweeps in %.0f ms\n', n, turns, sweeps, 1000 * seconds);
  for k = 1:numel (degree)
    fprintf ('  degree %-2d         off by at most %.1e after one turn, %.1e after %d\n', ...
             degree(k), errors(k,1), errors(k,end), turns);
  end
  fprintf ('  the mean          moved by at most %.1e\n', meanDrift);
  files = stage.draw ('advection_demo.png', [1000 760], @() drawAdvection (x, pulse, after, errors, degree));

  if nargout > 0
    result = struct ('degree', degree, 'maxError', errors(:,end)', 'meanDrift', meanDrift, 'sweeps', sweeps, ...
                     'seconds', seconds, 'backend', stage.device.Backend, 'files', {files});
  end
end

% Taps that evaluate a polynomial through DEGREE + 1 samples NU samples
% upstream. An odd degree has one sample more on the side where the flow comes
% from.
function taps = transportTaps (degree, nu)
  r = ceil (degree / 2);
  taps = zeros (1, 2 * r + 1);
  at = -r:degree - r;
  for k = 1:numel (at)
    others = at([1:k-1, k+1:end]);
    taps(k) = prod ((-nu - others) ./ (at(k) - others));
  end
end

function drawAdvection (x, pulse, after, errors, degree)
  colours = {[0.55 0.55 0.55], [0.90 0.42 0.00], [0.10 0.55 0.25], [0.40 0.68 0.92]};
  widths = [2 2 2 5];
  words = {'degree 1: upwind', 'degree 2: Lax-Wendroff', 'degree 4: five taps', 'degree 20: twenty-one taps'};

  ax = axes ('Position', [0.09 0.59 0.88 0.35]);
  % The widest first and the start last and thin, so that it can be seen on the others.
  order = [4 1 2 3];
  lines = plot (ax, x, after(order,:)', '-', x, pulse, '-');
  for k = 1:numel (order)
    set (lines(k), 'Color', colours{order(k)}, 'LineWidth', widths(order(k)));
  end
  set (lines(end), 'Color', [0 0 0], 'LineWidth', 1);
  dress (ax, [0 1], [-0.5 1.15], 'A pulse, ten times round a ring');
  set (ax, 'XTick', 0:0.2:1, 'YTick', -0.4:0.2:1);
  legend (lines, [words(order), {'the start'}], 'Location', 'northeast');
  legend ('boxoff');
  xlabel (ax, 'position (turns)');
  ylabel (ax, 'u (dimensionless)');

  ax = axes ('Position', [0.09 0.09 0.88 0.35]);
  lines = semilogy (ax, 1:size (errors, 2), errors', '-o');
  for k = 1:numel (degree)
    set (lines(k), 'Color', colours{k}, 'LineWidth', 2, 'MarkerSize', 5, ...
         'MarkerFaceColor', colours{k}, 'MarkerEdgeColor', colours{k});
  end
  powers = floor (log10 (min (errors(:)))):2:0;
  dress (ax, [0.5, size(errors, 2) + 0.5], [10 ^ (powers(1) - 0.5), 10], 'Errors, turn by turn');
  set (ax, 'XTick', 1:size (errors, 2), 'YTick', 10 .^ powers, 'YMinorTick', 'off', 'YMinorGrid', 'off', ...
       'YTickLabel', arrayfun (@(p) sprintf ('10^{%d}', p), powers, 'UniformOutput', false));
  xlabel (ax, 'time (turns)');
  ylabel (ax, 'largest error (dimensionless)');
  legend (lines, words, 'Location', 'east');
  legend ('boxoff');
end

function dress (ax, xs, ys, name)
  set (ax, 'XLim', xs, 'YLim', ys, 'XGrid', 'on', 'YGrid', 'on', 'Box', 'off', ...
       'FontSize', 11, 'TickDir', 'out', 'TickLength', [0.005 0.005]);
  title (ax, name, 'FontSize', 14, 'FontWeight', 'bold');
end
