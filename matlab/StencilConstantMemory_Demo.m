function result = StencilConstantMemory_Demo (varargin)
%StencilConstantMemory_Demo  Two worked examples of the stencil.
%
%   StencilConstantMemory_Demo
%   StencilConstantMemory_Demo (FOLDER)
%   RESULT = StencilConstantMemory_Demo (...)
%
%   Example 1 lays eleven ones over twenty ones: the output climbs from 6 to
%   11, stays there, and falls back to 6, because samples outside the array
%   are zero. One figure, three stacked plots: the array, the filter on the
%   same scale, and the result.
%
%   Example 2 smooths a noisy, heartbeat-like signal with a 21-tap Gaussian
%   and prints the RMS error before and after.
%
%   Where there is a display each example opens a window. Where there is none
%   the pictures are written to the current folder as stencil_demo_1.png and
%   stencil_demo_2.png. With FOLDER they are always written, into FOLDER
%   (made when it is missing), and no window opens.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               outputArray  what example 1 computed, 1 x 20 double
%               rmsBefore    RMS error of the noisy signal
%               rmsAfter     RMS error of the smoothed signal
%               backend      'cuda' or 'cpu': what the examples ran on
%               files        cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   examples still run and print their figures, after a warning.
%
%   See also StencilConstantMemory_CUDA, ConstantMemoryDevice_CUDA, compile_mex.

  narginchk (0, 1);
  stage = demoStage ('StencilConstantMemory_Demo', varargin{:});

  % ---- Example 1: eleven ones over twenty ones --------------------------
  inputArray  = ones (1, 20);
  kernelArray = ones (1, 11);
  outputArray = StencilConstantMemory_CUDA (inputArray, kernelArray);

  fprintf ('\nExample 1: eleven ones over twenty ones\n');
  fprintf ('  inputArray   %s\n', strtrim (sprintf ('%g ', inputArray)));
  fprintf ('  kernelArray  %s\n', strtrim (sprintf ('%g ', kernelArray)));
  fprintf ('  outputArray  %s\n', strtrim (sprintf ('%g ', outputArray)));
  files = stage.draw ('stencil_demo_1.png', [1000 900], @() drawStencil (inputArray, kernelArray, outputArray));

  % ---- Example 2: smoothing a noisy signal ------------------------------
  samplesPerSecond = 500;
  [t, clean] = heartbeat (samplesPerSecond, 3);
  noisy = clean + 0.15 * gaussianNoise (numel (t));

  taps = exp (-0.5 * ((-10:10) / 3.3) .^ 2);
  taps = taps / sum (taps);   % a sum of 1 keeps the signal's level
  smoothed = StencilConstantMemory_CUDA (noisy, taps);

  rmsBefore = sqrt (mean ((noisy - clean) .^ 2));
  rmsAfter  = sqrt (mean ((smoothed - clean) .^ 2));
  fprintf ('\nExample 2: a noisy signal smoothed by a 21-tap Gaussian\n');
  fprintf ('  RMS error before  %.3f\n', rmsBefore);
  fprintf ('  RMS error after   %.3f  (%.1f times smaller)\n', rmsAfter, rmsBefore / rmsAfter);
  files = [files, stage.draw('stencil_demo_2.png', [1000 660], ...
                             @() drawSmoothing (t, clean, noisy, smoothed, rmsBefore, rmsAfter))];

  if nargout > 0
    result = struct ('outputArray', outputArray, 'rmsBefore', rmsBefore, ...
                     'rmsAfter', rmsAfter, 'backend', stage.device.Backend, 'files', {files});
  end
end

function drawStencil (inputArray, kernelArray, outputArray)
  blue   = [0.00 0.32 0.62];
  green  = [0.10 0.55 0.25];
  orange = [0.80 0.36 0.00];
  n = numel (inputArray);
  r = (numel (kernelArray) - 1) / 2;
  % Separate places: subplot leaves the second title in the first one's labels.
  stems ([0.09 0.75 0.87 0.19], 1:n, inputArray, blue, 0:0.5:1, 'inputArray', 'index i (samples)');
  % As many samples across as above, so that the filter has its true width.
  ax = stems ([0.09 0.42 0.87 0.19], -r:r, kernelArray, green, 0:0.5:1, 'kernelArray', ...
              'distance from the middle tap (samples)');
  set (ax, 'XLim', [-1 1] * (n + 1) / 2);
  stems ([0.09 0.08 0.87 0.20], 1:n, outputArray, orange, [0 6:11], 'outputArray', 'index i (samples)');
end

function ax = stems (place, x, values, colour, ticks, name, xName)
  ax = axes ('Position', place);
  stem (ax, x, values, 'Color', colour, 'LineWidth', 2, ...
        'MarkerFaceColor', colour, 'MarkerEdgeColor', colour, 'MarkerSize', 6);
  set (ax, 'XLim', [x(1) - 1, x(end) + 1], 'XTick', x, 'YLim', [0, 1.1 * max(values)], 'YTick', ticks, ...
       'YGrid', 'on', 'Box', 'off', 'FontSize', 11, 'TickDir', 'out', 'TickLength', [0.005 0.005]);
  xlabel (ax, xName);
  ylabel (ax, 'value (dimensionless)');
  title (ax, name, 'FontSize', 14, 'FontWeight', 'bold', 'Interpreter', 'none');
end

function drawSmoothing (t, clean, noisy, smoothed, before, after)
  grey   = [0.72 0.72 0.72];
  orange = [0.90 0.42 0.00];
  black  = [0.00 0.00 0.00];
  ax = axes ('Position', [0.08 0.11 0.88 0.79]);
  % The original comes last and thin, so that it can be seen on the smoothed one.
  lines = plot (ax, t, noisy, '-', t, smoothed, '-', t, clean, '-');
  set (lines(1), 'Color', grey,   'LineWidth', 1);
  set (lines(2), 'Color', orange, 'LineWidth', 3);
  set (lines(3), 'Color', black,  'LineWidth', 1);
  set (ax, 'XLim', [0 3], 'XTick', 0:0.5:3, 'YLim', [-0.75 1.75], 'YTick', -0.5:0.5:1.5, ...
       'XGrid', 'on', 'YGrid', 'on', 'Box', 'off', ...
       'FontSize', 11, 'TickDir', 'out', 'TickLength', [0.005 0.005]);
  xlabel (ax, 'time (s)');
  ylabel (ax, 'amplitude (dimensionless)');
  title (ax, sprintf ('21-tap Gaussian: RMS error %.3f before, %.3f after', before, after), ...
         'FontSize', 14, 'FontWeight', 'bold');
  legend (lines, {'with noise', 'smoothed', 'original'}, 'Location', 'northeast');
  legend ('boxoff');
end

% A pulse train shaped like a heartbeat: each beat is a sum of five bells.
function [t, y] = heartbeat (samplesPerSecond, seconds)
  t = (0:samplesPerSecond * seconds - 1) / samplesPerSecond;
  phase = mod (t, 1);
  centre = [0.20  0.345  0.40  0.455  0.68];
  width  = [0.030 0.012  0.018 0.014  0.050];
  height = [0.16 -0.18   1.20 -0.28   0.32];
  y = zeros (size (t));
  for k = 1:numel (centre)
    y = y + height(k) * exp (-0.5 * ((phase - centre(k)) / width(k)) .^ 2);
  end
end
