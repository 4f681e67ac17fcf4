% plot_bench (RESULTS, PICTURE, TAPS)  Draws results.csv of benches/bench.py: points a second over the number of points,
% and the limits.
%
% PICTURE is throughput.png beside RESULTS unless given; TAPS is 11, or the largest number that was measured.
function plot_bench (results, picture, taps)
  if (nargin < 2 || isempty (picture))
    picture = fullfile (fileparts (results), 'throughput.png');
  end
  rows = textRows (results);
  times = rows(strcmp (rows(:,1), 'time'), :);
  if (isempty (times))
    error ('plot_bench: there are no times in %s', results);
  end
  counts = str2double (times(:,2));
  if (nargin < 3)
    taps = ifelse (any (counts == 11), 11, max (counts));
  end
  times = times(counts == taps, :);

  % Without a display, as the demos do it; the two notices are of no use here.
  warning ('off', 'Octave:gnuplot-graphics');
  warning ('off', 'print:nogs');
  graphics_toolkit ('gnuplot');
  fig = figure ('Visible', 'off', 'Color', 'w', 'Position', [100 100 1150 660]);
  ax = axes ('Position', [0.08 0.11 0.89 0.79]);
  hold (ax, 'on');
  contenders = { ...
    'ours_cuda', 'ours, CUDA',         [0.80 0.25 0.00], 'o', 3; ...
    'ours_cpu',  'ours, CPU',          [0.95 0.62 0.00], 's', 3; ...
    'filter',    'Octave filter',      [0.45 0.45 0.45], 'd', 1.5; ...
    'conv',      'Octave conv',        [0.70 0.70 0.70], 'd', 1.5; ...
    'scipy',     'SciPy correlate1d',  [0.00 0.60 0.50], '^', 1.5; ...
    'cupy',      'CuPy correlate1d',   [0.00 0.32 0.62], 'v', 1.5; ...
    'torch',     'PyTorch conv1d',     [0.34 0.71 0.91], '^', 1.5; ...
    'launch',    'one thread a block', [0.60 0.30 0.60], 'v', 1.5};
  lines = [];
  names = {};
  for c = 1:rows_of (contenders)
    [key, name, colour, mark, width] = contenders{c,:};
    mine = times(strcmp (times(:,4), key), :);
    if (isempty (mine))
      continue
    end
    [n, order] = sort (str2double (mine(:,3)));
    seconds = str2double (mine(order,7));
    lines(end+1) = plot (ax, n, n ./ seconds, ['-' mark], 'Color', colour, 'LineWidth', width, ...
                         'MarkerSize', 6, 'MarkerFaceColor', colour);
    names{end+1} = name;
  end
  sizes = str2double (times(:,3));
  extent = [min(sizes), max([sizes; 10 * min(sizes)])];
  % What goes over the link is bound by it at every size; small outputs lie in memory that was used before, and a copy
  % into fresh pages says nothing of them.
  limits = {'link', 'the link''s limit', '--', 1; 'copy', 'a copy into fresh pages, all processors', ':', 1e6};
  for l = 1:rows_of (limits)
    mine = rows(strcmp (rows(:,1), 'limit') & strcmp (rows(:,4), limits{l,1}), :);
    from = max (extent(1), limits{l,4});
    if (! isempty (mine) && from < extent(2))
      lines(end+1) = plot (ax, [from extent(2)], str2double (mine{1,7}) * [1 1], limits{l,3}, 'Color', [0 0 0], ...
                           'LineWidth', 2);
      names{end+1} = limits{l,2};
    end
  end
  set (ax, 'XScale', 'log', 'YScale', 'log', 'XLim', extent, 'XGrid', 'on', 'YGrid', 'on', ...
       'XMinorGrid', 'off', 'YMinorGrid', 'off', 'Box', 'off', 'FontSize', 11);
  xlabel (ax, 'points');
  ylabel (ax, 'points a second');
  title (ax, sprintf ('%d taps, from an ordinary array to a new one, at the prompt', taps), 'FontSize', 14, ...
         'FontWeight', 'bold');
  legend (lines, names, 'Location', 'southeast');
  legend ('boxoff');
  print (fig, picture, '-dpngcairo');
  close (fig);
end

function count = rows_of (table)
  count = size (table, 1);
end

function value = ifelse (condition, yes, no)
  if (condition)
    value = yes;
  else
    value = no;
  end
end

% The fields of every line as texts. What is drawn has no commas in it; fields of other lines may, and are cut.
function rows = textRows (file)
  lines = strsplit (fileread (file), "\n");
  rows = cell (0, 13);
  for i = 2:numel (lines)
    fields = strsplit (lines{i}, ',', 'CollapseDelimiters', false);
    if (numel (fields) >= 13)
      rows(end+1,:) = fields(1:13);
    end
  end
end
