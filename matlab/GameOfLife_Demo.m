function result = GameOfLife_Demo (varargin)
%GameOfLife_Demo  Conway's Game of Life on a DeviceArray.
%
%   GameOfLife_Demo
%   GameOfLife_Demo (FOLDER)
%   GameOfLife_Demo (FOLDER, BACKEND)
%   RESULT = GameOfLife_Demo (...)
%
%   A cell lives on with two or three living neighbours, and is born with three.
%   On a DeviceArray of ones and zeros that is two lines:
%       n = ConvolutionConstantMemory_CUDA (u, [1 1 1; 1 0 1; 1 1 1], ...
%                                           'Boundary', 'circular');
%       u = single ((n == 3) | (u & (n == 2)));
%   The cells stay on the GPU. Of each generation one number comes back, how
%   many there are, from SUM.
%
%   The R-pentomino, five cells, is known to settle in generation 1103, with 116
%   cells. Six gliders fly off by then, and the field is large enough that none
%   has come round to the other side. And of a glider it is known that after
%   four generations it is itself, one row and one column on: after 4 times 40
%   in a field of 40 x 40 it has gone round and is where it was. All is exact:
%   no number is rounded.
%
%   One figure: the R-pentomino at four moments, and how many cells there are in
%   each generation.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as life_demo.png. With FOLDER it is always
%   written, into FOLDER (made when it is missing), and no window opens. FOLDER
%   may be '' to give none. BACKEND is 'auto', 'cuda' or 'cpu', as for
%   DeviceArray.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               cells       the field in generation 1103
%               population  how many cells there are in generations 0 to 1103
%               glider      whether the glider was right every four generations
%               seconds     how long the R-pentomino took
%               backend     'cuda' or 'cpu': what it ran on
%               files       cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also DeviceArray, ConvolutionConstantMemory_CUDA, GrayScott_Demo,
%   WaveEquation_Demo, compile_mex.

  narginchk (0, 2);
  stage = demoStage ('GameOfLife_Demo', varargin{:});

  % ---- The R-pentomino ----------------------------------------------------------
  n = 600;
  moments = [0 100 400 1103];
  start = zeros (n, 'single');   % single: half the bytes, and as exact here
  start(300:302, 300:302) = [0 1 1; 1 1 0; 0 1 0];
  u = DeviceArray (start, stage.options{:});
  population = [sum(u, 'all'), zeros(1, moments(end))];
  pictures = {start};
  shown = 0;
  watch = tic ();
  for g = 1:moments(end)
    u = live (u);
    population(g+1) = sum (u, 'all');
    if any (g == moments)
      pictures{end+1} = gather (u);
    end
    shown = demoProgress (g, moments(end), watch, shown);
  end
  seconds = toc (watch);

  % ---- A glider, once round -------------------------------------------------------
  start = zeros (40);
  start(1:3, 1:3) = [0 1 0; 0 0 1; 1 1 1];
  g = DeviceArray (start, stage.options{:});
  glider = true;
  for k = 1:40
    g = live (live (live (live (g))));
    glider = glider && isequal (g, circshift (start, [k k])) && sum (g, 'all') == 5;
  end
  words = {'NOT itself', 'itself'};

  fprintf ('\nLife in a field of %d x %d: %d generations in %.2f s, %.0f a second\n', ...
           n, n, moments(end), seconds, moments(end) / seconds);
  fprintf ('  R-pentomino       %d cells in generation %d, known are 116\n', population(end), moments(end));
  fprintf ('  glider            %s, k rows and k columns on after 4 k generations, k = 1 to 40\n', words{1 + glider});
  again = @(options) run (pictures{1}, moments(2), options);
  fprintf ('  other backend     %s\n', demoOtherBackend (stage, pictures{2}, again));
  files = stage.draw ('life_demo.png', [1200 760], @() drawLife (pictures, moments, population));

  if nargout > 0
    result = struct ('cells', pictures{end}, 'population', population, 'glider', glider, 'seconds', seconds, ...
                     'backend', stage.device.Backend, 'files', {files});
  end
end

% The next generation. Neighbours are counted in single: a filter over truth values would give such.
function u = live (u)
  n = ConvolutionConstantMemory_CUDA (u, single ([1 1 1; 1 0 1; 1 1 1]), 'Boundary', 'circular');
  u = single ((n == 3) | (u & (n == 2)));
end

function cells = run (cells, generations, options)
  u = DeviceArray (cells, options{:});
  for g = 1:generations
    u = live (u);
  end
  cells = gather (u);
end

function drawLife (pictures, moments, population)
  blue   = [0.00 0.32 0.62];
  orange = [0.90 0.42 0.00];
  for k = 1:4
    ax = axes ('Position', [0.06 + (k - 1) * 0.245, 0.59, 0.18, 0.33]);
    [y, x] = find (pictures{k});
    half = [10 40 100 300];   % how far is seen
    plot (ax, x - 300.5, y - 300.5, 's', 'Color', blue, 'MarkerFaceColor', blue, ...
          'MarkerSize', max (1.5, 44 / half(k)));
    set (ax, 'XLim', [-1 1] * half(k), 'YLim', [-1 1] * half(k), ...
         'XTick', [-0.5 0 0.5] * half(k), 'YTick', [-0.5 0 0.5] * half(k), 'YDir', 'reverse', 'Box', 'on', ...
         'FontSize', 10, 'TickLength', [0 0], 'DataAspectRatio', [1 1 1]);
    xlabel (ax, 'column (cells)');
    ylabel (ax, 'row (cells)');
    title (ax, sprintf ('Generation %d: %d cells', moments(k), population(moments(k) + 1)), ...
           'FontSize', 12, 'FontWeight', 'bold');
  end

  ax = axes ('Position', [0.06 0.09 0.92 0.34]);
  lines = plot (ax, 0:moments(end), population, '-', moments, population(moments + 1), 'o');
  set (lines(1), 'Color', blue, 'LineWidth', 1.5);
  set (lines(2), 'Color', orange, 'MarkerFaceColor', orange, 'MarkerEdgeColor', orange, 'MarkerSize', 7);
  set (ax, 'XLim', [-5, moments(end) + 15], 'YLim', [0, 1.1 * max(population)], 'XTick', [0:200:1000, 1103], ...
       'XGrid', 'on', 'YGrid', 'on', 'Box', 'off', 'FontSize', 11, 'TickDir', 'out', 'TickLength', [0.005 0.005]);
  title (ax, 'Living cells', 'FontSize', 14, 'FontWeight', 'bold');
  xlabel (ax, 'time (generations)');
  ylabel (ax, 'population (cells)');
  legend (lines, {'population', 'the generations above'}, 'Location', 'southeast');
  legend ('boxoff');
end
