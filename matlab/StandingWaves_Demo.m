function result = StandingWaves_Demo (varargin)
%StandingWaves_Demo  Waves on two strings and a membrane.
%
%   StandingWaves_Demo
%   StandingWaves_Demo (FOLDER)
%   RESULT = StandingWaves_Demo (...)
%
%   Solves the wave equation u_tt = laplace (u) by leapfrog: with samples h
%   apart, steps of nu h and c = nu^2, the next state is
%       2 u + c h^2 laplace (u) - the state before u
%   The first two terms are the taps [c, 2 - 2 c, c], the last one is said by
%   'Previous' and 'Weight', -1. One call does all steps, and 'Every' returns
%   the states on the way.
%
%   Fixed ends ('Boundary', 0): the ends are no samples. They stand one sample
%   outside, where the zeros are; the samples are the nodes between them.
%
%   Free ends ('Boundary', 'mirror'): the ends are the first sample and the
%   last, and the string goes on beyond them as its own image.
%
%   A membrane with a fixed edge: a square, by ConvolutionConstantMemory_CUDA.
%
%   Each begins at rest with a pulse, which is a sum of standing waves. How
%   each of them swings is known, and so is their sum at any time. The error
%   is of the second order in h; the demo measures that with three h. A pulse
%   comes back from a fixed end upside down, from a free one as it was.
%
%   One figure: both strings as images over position and time, and the membrane
%   at some moments. Position, time and height are dimensionless here.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as standing_demo.png. With FOLDER it is always
%   written, into FOLDER (made when it is missing), and no window opens.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               maxError   largest errors: a row for fixed ends, free ends and
%                          the membrane, a column for each h, which halves
%               order      of each, from the last two columns
%               sweeps     how many sweeps were done
%               seconds    how long they took
%               backend    'cuda' or 'cpu': what it ran on
%               files      cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also StencilConstantMemory_CUDA, ConvolutionConstantMemory_CUDA,
%   WaveEquation_Demo, Diffusion_Demo, HeatEquation_Demo, compile_mex.

  narginchk (0, 1);
  stage = demoStage ('StandingWaves_Demo', varargin{:});
  names = {'fixed ends', 'free ends', 'membrane'};
  solvers = {@fixedString, @freeString, @membrane};
  parts = [200 400 800; 200 400 800; 64 128 256];   % how often h goes into 1

  maxError = zeros (size (parts));
  states = cell (1, 3);
  sweeps = 0;
  seconds = 0;
  for k = 1:3
    for m = 1:3
      watch = tic ();
      [states{k}, exact, steps] = solvers{k} (parts(k,m));
      seconds = seconds + toc (watch);
      sweeps = sweeps + steps;
      maxError(k,m) = max (abs (states{k}(:) - exact(:)));
    end
  end
  order = log2 (maxError(:,2) ./ maxError(:,3))';

  fprintf ('\nWaves on two strings and a membrane: %d sweeps of two time levels in %.0f ms\n', sweeps, 1000 * seconds);
  for k = 1:3
    fprintf ('  %-17s off by at most %.1e, %.1e, %.1e with h = 1/%d, 1/%d, 1/%d: order %.2f\n', ...
             names{k}, maxError(k,:), parts(k,:), order(k));
  end
  files = stage.draw ('standing_demo.png', [1300 800], @() drawWaves (states));

  if nargout > 0
    result = struct ('maxError', maxError, 'order', order, 'sweeps', sweeps, 'seconds', seconds, ...
                     'backend', stage.device.Backend, 'files', {files});
  end
end

% A string of N parts from t = 0 to 2, when the pulse has been at both ends and is back: 200 states after the first.
function [states, exact, steps] = fixedString (n)
  x = (1:n-1)' / n;
  k = 1:80;
  t = (0:200) / 100;
  exact = sin (pi * x * k) * (waves (@sin, k, 0.3, 0.04)' .* cos (pi * k' * t));
  steps = 4 * n;
  u = exact(:,1);
  taps = [1 6 1] / 4;      % nu = 1/2
  % At rest: the state before the first equals the one behind it, and a sweep
  % gives its double.
  before = StencilConstantMemory_CUDA (u, taps) / 2;
  states = [u, StencilConstantMemory_CUDA(u, taps, 'Previous', before, 'Weight', -1, ...
                                          'Iterations', steps, 'Every', steps / 200)];
end

function [states, exact, steps] = freeString (n)
  x = (0:n)' / n;
  k = 0:80;
  t = (0:200) / 100;
  exact = cos (pi * x * k) * (waves (@cos, k, 0.3, 0.04)' .* cos (pi * k' * t));
  steps = 4 * n;
  u = exact(:,1);
  taps = [1 6 1] / 4;
  before = StencilConstantMemory_CUDA (u, taps, 'Boundary', 'mirror') / 2;
  states = [u, StencilConstantMemory_CUDA(u, taps, 'Boundary', 'mirror', 'Previous', before, 'Weight', -1, ...
                                          'Iterations', steps, 'Every', steps / 200)];
end

% A square of N x N parts up to t = 1: four states after the first, along the third dimension.
function [states, exact, steps] = membrane (n)
  x = (1:n-1)' / n;
  k = 1:40;
  t = (0:4) / 4;
  heights = waves (@sin, k, 0.65, 0.06)' * waves (@sin, k, 0.3, 0.06);
  exact = zeros (n - 1, n - 1, numel (t));
  for m = 1:numel (t)
    swing = cos (pi * sqrt (k' .^ 2 + k .^ 2) * t(m));
    exact(:,:,m) = sin (pi * x * k) * (heights .* swing) * sin (pi * k' * x');
  end
  steps = 2 * n;
  u = exact(:,:,1);
  taps = [0 1 0; 1 4 1; 0 1 0] / 4;
  before = ConvolutionConstantMemory_CUDA (u, taps) / 2;
  states = cat (3, u, ConvolutionConstantMemory_CUDA (u, taps, 'Previous', before, 'Weight', -1, ...
                                                      'Iterations', steps, 'Every', steps / 4));
end

% The heights of the standing waves K that make a pulse of height 1 at PLACE, WIDTH wide, between 0 and 1.
function heights = waves (shape, k, place, width)
  heights = 2 * sqrt (2 * pi) * width * exp (-0.5 * (pi * k * width) .^ 2) .* shape (pi * k * place);
  heights(k == 0) = heights(k == 0) / 2;
end

function drawWaves (states)
  share = linspace (-1, 1, 255)';
  colormap (interp1 ([-1 -0.5 0 0.5 1], [0.03 0.15 0.42; 0.25 0.55 0.82; 1 1 1; 0.92 0.5 0.3; 0.5 0.05 0.1], share));
  none = zeros (1, size (states{1}, 2));
  overTime (0.055, [none; states{1}; none], 'String with fixed ends');
  overTime (0.515, states{2}, 'String with free ends');
  words = {'0', '1/4', '1/2', '3/4', '1'};
  for m = 1:5
    ax = axes ('Position', [0.055 + (m - 1) * 0.174, 0.09, 0.134, 0.218]);
    imagesc ([0 1], [0 1], states{3}(:,:,m), [-0.5 0.5]);
    axis (ax, 'image');
    set (ax, 'YDir', 'normal', 'XTick', [0 1], 'YTick', [0 1], 'FontSize', 11, 'TickLength', [0 0]);
    xlabel (ax, 'x (dimensionless)');
    ylabel (ax, 'y (dimensionless)');
    title (ax, ['Membrane at t = ' words{m}], 'FontSize', 13, 'FontWeight', 'bold');
  end
  demoColorbar (ax, [0.925 0.09 0.012 0.85], 'height u (dimensionless), clipped at 0.5');
end

% A string's height over position and time.
function overTime (left, heights, name)
  ax = axes ('Position', [left 0.47 0.37 0.47]);
  imagesc ([0 1], [0 2], heights', [-0.5 0.5]);
  set (ax, 'YDir', 'normal', 'XLim', [0 1], 'YLim', [0 2], 'XTick', 0:0.2:1, 'YTick', 0:0.5:2, 'Box', 'on', ...
       'FontSize', 11, 'TickLength', [0 0]);
  xlabel (ax, 'position x (dimensionless)');
  ylabel (ax, 'time t (dimensionless)');
  title (ax, name, 'FontSize', 14, 'FontWeight', 'bold');
end
