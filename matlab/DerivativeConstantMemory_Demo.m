function result = DerivativeConstantMemory_Demo (varargin)
%DerivativeConstantMemory_Demo  Derivative of a sine, clean and noisy.
%
%   DerivativeConstantMemory_Demo
%   DerivativeConstantMemory_Demo (FOLDER)
%   RESULT = DerivativeConstantMemory_Demo (...)
%
%   Takes the derivative of sin (x), of which it is known that it is cos (x):
%   once from clean samples, once with a little noise on them. One figure, two
%   stacked plots: the derivatives, and by how much each is off, on a scale
%   that shows both.
%
%   It shows three things.
%   - From clean samples the derivative is as good as exact: nine points make
%     an error that falls with the eighth power of their distance.
%   - Noise in the samples grows by 1.17 / h, whatever the formula: the
%     smaller the distance, the more. Smooth first, or take fewer samples.
%   - The first four values and the last four are no derivative, as samples
%     outside are zero: leave them out.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as derivative_demo.png. With FOLDER it is
%   always written, into FOLDER (made when it is missing), and no window opens.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               maxError   largest error from clean samples, away from the edges
%               rmsError   RMS error from noisy samples, away from the edges
%               edgeError  largest error of the first and the last four values
%               backend    'cuda' or 'cpu': what it ran on
%               files      cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also DerivativeConstantMemory_CUDA, StencilConstantMemory_Demo,
%   ConvolutionConstantMemory_Demo, compile_mex.

  narginchk (0, 1);
  stage = demoStage ('DerivativeConstantMemory_Demo', varargin{:});

  n = 161;
  x = linspace (0.6, 0.6 + 4 * pi, n);   % where the sine is not 0 at the ends
  h = x(2) - x(1);
  exact = cos (x);
  noise = 0.005;

  clean = DerivativeConstantMemory_CUDA (sin (x), h);
  noisy = DerivativeConstantMemory_CUDA (sin (x) + noise * gaussianNoise (n), h);

  inside = 5:n-4;
  edges = [1:4, n-3:n];
  maxError  = max (abs (clean(inside) - exact(inside)));
  rmsError  = sqrt (mean ((noisy(inside) - exact(inside)) .^ 2));
  edgeError = max (abs (clean(edges) - exact(edges)));
  growth = sqrt (2 * sum ([4/5 1/5 4/105 1/280] .^ 2)) / h;

  fprintf ('\nThe derivative of sin (x) from %d samples, h = %.4f\n', n, h);
  fprintf ('  clean samples     off by at most %.1e\n', maxError);
  fprintf ('  noise of %.3f    off by %.3f (RMS): %.0f times the noise, and 1.17 / h is %.0f\n', ...
           noise, rmsError, rmsError / noise, growth);
  fprintf ('  at the edges      off by up to %.1f: the first and the last four are no derivative\n', edgeError);
  files = stage.draw ('derivative_demo.png', [1000 760], ...
                      @() drawDerivative (x, exact, clean, noisy, noise, growth));

  if nargout > 0
    result = struct ('maxError', maxError, 'rmsError', rmsError, 'edgeError', edgeError, ...
                     'backend', stage.device.Backend, 'files', {files});
  end
end

function drawDerivative (x, exact, clean, noisy, noise, growth)
  blue   = [0.40 0.68 0.92];
  orange = [0.90 0.42 0.00];
  red    = [0.75 0.05 0.15];
  black  = [0.00 0.00 0.00];
  n = numel (x);
  edges = [1:4, n-3:n];
  inside = 5:n-4;
  xs = [x(1) - 0.15, x(end) + 0.15];

  ax = axes ('Position', [0.09 0.59 0.88 0.35]);
  % The exact one comes last and thin, so that it can be seen on the clean one.
  lines = plot (ax, x(inside), noisy(inside), '-', x(inside), clean(inside), '-', ...
                x(inside), exact(inside), '-');
  set (lines(1), 'Color', orange, 'LineWidth', 1.5);
  set (lines(2), 'Color', blue,   'LineWidth', 5);
  set (lines(3), 'Color', black,  'LineWidth', 1);
  dress (ax, xs, [-1.4 1.9]);
  set (ax, 'YTick', -1:0.5:1.5);
  xlabel (ax, 'x (rad)');
  ylabel (ax, 'derivative (1/rad)');
  title (ax, 'The derivative of sin (x), from nine points', 'FontSize', 14, 'FontWeight', 'bold');
  legend (lines, {sprintf('from samples with noise of %g', noise), 'from clean samples', ...
                  'exact: cos (x)'}, 'Location', 'northeast');
  legend ('boxoff');

  ax = axes ('Position', [0.09 0.09 0.88 0.35]);
  offNoisy = abs (noisy - exact);
  offClean = abs (clean - exact);
  lines = semilogy (ax, x(inside), offNoisy(inside), '-', xs, noise * growth * [1 1], '--', ...
                    x(inside), offClean(inside), '-', x(edges), offClean(edges), 'o');
  set (lines(1), 'Color', orange, 'LineWidth', 1.5);
  set (lines(2), 'Color', black,  'LineWidth', 1);
  set (lines(3), 'Color', blue,   'LineWidth', 3);
  set (lines(4), 'Color', red, 'MarkerFaceColor', red, 'MarkerEdgeColor', red, 'MarkerSize', 5);
  dress (ax, xs, [1e-16 1e3]);
  powers = -15:3:0;
  set (ax, 'YTick', 10 .^ powers, 'YMinorTick', 'off', 'YMinorGrid', 'off', ...
       'YTickLabel', arrayfun (@(p) sprintf ('10^{%d}', p), powers, 'UniformOutput', false));
  say (ax, x(9),  20,    red,          'first and last four values: no derivative, as samples outside are zero');
  say (ax, x(54), 1e-4,  orange,       'from samples with noise; dashed: 1.17 / h times the noise');
  say (ax, x(54), 2e-10, blue * 0.75,  'from clean samples: near h^8 / 630 times |cos (x)|');
  xlabel (ax, 'x (rad)');
  ylabel (ax, 'absolute error (1/rad)');
  title (ax, 'Errors', 'FontSize', 14, 'FontWeight', 'bold');
end

function dress (ax, xs, ys)
  set (ax, 'XLim', xs, 'XTick', 2:2:12, 'YLim', ys, 'XGrid', 'on', 'YGrid', 'on', 'Box', 'off', ...
       'FontSize', 11, 'TickDir', 'out', 'TickLength', [0.005 0.005]);
end

function say (ax, x, y, colour, words)
  text (x, y, words, 'Parent', ax, 'Color', colour, 'FontSize', 11);
end
