function result = WaveEquation_Demo (varargin)
%WaveEquation_Demo  Waves through two slits; the energy stays.
%
%   WaveEquation_Demo
%   WaveEquation_Demo (FOLDER)
%   WaveEquation_Demo (FOLDER, BACKEND)
%   RESULT = WaveEquation_Demo (...)
%
%   Solves the wave equation p_tt = laplace (p) by leapfrog: with the square c
%   of the step in time over the step in space, the next field is
%       next = 2 p + c laplace (p) - before
%   of which the first two terms are one call of ConvolutionConstantMemory_CUDA.
%   Its option 'Boundary', 'symmetric' makes the basin's edges reflect. A wall
%   with two slits stands across, where the wave is held at zero: p is
%   multiplied by an array of ones and zeros. All of it are DeviceArrays; what
%   is drawn comes back with GATHER, and for the energy two numbers do, from
%   DOT.
%
%   A step takes nothing from the energy
%       E = (dot (d, d) - c dot (p, laplace (before))) / 2,  d = p - before
%   as the Laplacian is symmetric with these edges and this wall. What is left
%   is rounding. In a step the next field is off by less than 16 roundings of p,
%   which is 8 eps norm (p), and that moves the energy by the dot product with
%   half of next - before, whose norm is below 2 sqrt (E) here, where c is 1/4.
%   So after so many steps
%       16 eps steps max (norm (p)) / sqrt (E)
%   is what E may have moved, as a part of it.
%
%   One figure: the waves at six moments.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as wave_demo.png. With FOLDER it is always
%   written, into FOLDER (made when it is missing), and no window opens. FOLDER
%   may be '' to give none. BACKEND is 'auto', 'cuda' or 'cpu', as for
%   DeviceArray.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               p          the field in the end
%               drift      the largest part of the energy by which it moved
%               tolerance  what it may be
%               steps      how many steps were done
%               seconds    how long they took
%               backend    'cuda' or 'cpu': what it ran on
%               files      cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also DeviceArray, ConvolutionConstantMemory_CUDA, GrayScott_Demo,
%   GameOfLife_Demo, StandingWaves_Demo, compile_mex.

  narginchk (0, 2);
  stage = demoStage ('WaveEquation_Demo', varargin{:});

  moments = [0 120 240 360 480 840];
  [p, before, open] = basin (stage.options);
  energies = energy (p, before);
  largest = norm (p(:));
  pictures = {gather(before)};
  shown = 0;
  watch = tic ();
  for m = 2:numel (moments)
    for step = moments(m-1)+1:moments(m)
      [p, before] = leap (p, before, open);
      if mod (step, 40) == 0
        energies(end+1) = energy (p, before);
        largest = max (largest, norm (p(:)));
      end
      shown = demoProgress (step, moments(end), watch, shown);
    end
    pictures{m} = gather (p);
  end
  seconds = toc (watch);
  drift = max (abs (energies / energies(1) - 1));
  tolerance = 16 * eps * moments(end) * largest / sqrt (energies(1));

  fprintf ('\nWaves in a basin of %d x %d: %d steps in %.2f s, %.0f a second\n', ...
           size (p, 1), size (p, 2), moments(end), seconds, moments(end) / seconds);
  fprintf ('  the energy        stays %.3f: it moved by at most %.1e of it, %.1e is allowed\n', ...
           energies(1), drift, tolerance);
  again = @(options) run (moments(2), options);
  fprintf ('  other backend     %s\n', demoOtherBackend (stage, pictures{2}, again));
  files = stage.draw ('wave_demo.png', [1300 620], @() drawWaves (pictures, moments, gather (open)));

  if nargout > 0
    result = struct ('p', pictures{end}, 'drift', drift, 'tolerance', tolerance, 'steps', moments(end), ...
                     'seconds', seconds, 'backend', stage.device.Backend, 'files', {files});
  end
end

function [next, p] = leap (p, before, open)
  next = open .* ConvolutionConstantMemory_CUDA (p, stepTaps (), 'Boundary', 'symmetric') - before;
end

% Taps of a step of the field: 2 p + c laplace (p), with c = 1/4.
function taps = stepTaps ()
  taps = [0 1 0; 1 -4 1; 0 1 0] / 4 + [0 0 0; 0 2 0; 0 0 0];
end

function E = energy (p, before)
  L = ConvolutionConstantMemory_CUDA (before, [0 1 0; 1 -4 1; 0 1 0] / 4, 'Boundary', 'symmetric');
  d = p - before;
  E = (dot (d(:), d(:)) - dot (p(:), L(:))) / 2;
end

% Some waves at the left edge, at rest: half a step back equals half a step on.
function [p, before, open] = basin (options)
  [x, y] = meshgrid (1:360, 1:200);
  before = DeviceArray (cos (2 * pi * x / 16) .* exp (-0.5 * (x / 24) .^ 2), options{:});
  slits = abs (abs (y - 100.5) - 28) < 7;
  open = DeviceArray (double (x < 120 | x > 123 | slits), options{:});
  before = open .* before;
  p = 0.5 * leap (before, 0 * before, open);
end

function p = run (steps, options)
  [p, before, open] = basin (options);
  for step = 1:steps
    [p, before] = leap (p, before, open);
  end
  p = gather (p);
end

function drawWaves (pictures, moments, open)
  % From blue over white to red; the wall is drawn dark.
  share = linspace (-1, 1, 255)';
  colours = interp1 ([-1 -0.5 0 0.5 1], [0.03 0.15 0.42; 0.25 0.55 0.82; 1 1 1; 0.92 0.5 0.3; 0.5 0.05 0.1], share);
  colormap ([colours; 0.25 0.25 0.25]);
  for k = 1:numel (pictures)
    row = floor ((k - 1) / 3);
    ax = axes ('Position', [0.05 + mod(k - 1, 3) * 0.302, 0.59 - 0.48 * row, 0.24, 0.33]);
    picture = max (-0.5, min (0.49, pictures{k}));
    picture(open == 0) = 0.5;
    imagesc (picture, [-0.5 0.5]);
    axis (ax, 'image');
    set (ax, 'XTick', 100:100:300, 'YTick', 50:50:200, 'Box', 'on', 'FontSize', 11, 'TickLength', [0 0]);
    xlabel (ax, 'column (samples)');
    ylabel (ax, 'row (samples)');
    title (ax, sprintf ('p after %d steps', moments(k)), 'FontSize', 14, 'FontWeight', 'bold');
  end
  demoColorbar (ax, [0.925 0.11 0.012 0.81], 'p (dimensionless), clipped at 0.5; dark: the wall');
end
