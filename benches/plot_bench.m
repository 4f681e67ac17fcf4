% plot_bench (RESULTS, PICTURE, TAPS)  Draws results.csv of benches/bench.py: points a second over the number of points,
% and the limits. The title names the machine that was measured.
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
  fig = figure ('Visible', 'off', 'Color', 'w', 'Position', [100 100 1150 700]);
  ax = axes ('Position', [0.08 0.10 0.89 0.77]);
  hold (ax, 'on');
  contenders = { ...
    'ours_cuda', 'stencil-mex, CUDA',        [0.80 0.25 0.00], 'o', 3; ...
    'ours_cpu',  'stencil-mex, CPU',         [0.95 0.62 0.00], 's', 3; ...
    'filter',    'Octave filter',            [0.45 0.45 0.45], 'd', 1.5; ...
    'conv',      'Octave conv',              [0.70 0.70 0.70], 'd', 1.5; ...
    'scipy',     'SciPy correlate1d',        [0.00 0.60 0.50], '^', 1.5; ...
    'cupy',      'CuPy correlate1d',         [0.00 0.32 0.62], 'v', 1.5; ...
    'torch',     'PyTorch conv1d',           [0.34 0.71 0.91], '^', 1.5; ...
    'launch',    'CUDA, one thread a block', [0.60 0.30 0.60], 'v', 1.5};
  lines = [];
  speeds = [];
  names = {};
  for c = 1:rows_of (contenders)
    [key, name, colour, mark, width] = contenders{c,:};
    mine = times(strcmp (times(:,4), key), :);
    if (isempty (mine))
      continue
    end
    [n, order] = sort (str2double (mine(:,3)));
    seconds = str2double (mine(order,7));
    speeds = [speeds; n ./ seconds];
    lines(end+1) = plot (ax, n, n ./ seconds, ['-' mark], 'Color', colour, 'LineWidth', width, ...
                         'MarkerSize', 6, 'MarkerFaceColor', colour);
    names{end+1} = name;
  end
  sizes = str2double (times(:,3));
  extent = [min(sizes), max([sizes; 10 * min(sizes)])];
  % The link limits calls over it at every size; small outputs lie in memory
  % that was used before, and are not limited by a copy into fresh pages.
  limits = {'link', 'the limit of the PCIe link, both ways at once', '--', 1; ...
            'copy', 'a copy into fresh pages, all processors', ':', 1e6};
  for l = 1:rows_of (limits)
    mine = rows(strcmp (rows(:,1), 'limit') & strcmp (rows(:,4), limits{l,1}), :);
    from = max (extent(1), limits{l,4});
    if (! isempty (mine) && from < extent(2))
      speeds(end+1) = str2double (mine{1,7});
      lines(end+1) = plot (ax, [from extent(2)], speeds(end) * [1 1], limits{l,3}, 'Color', [0 0 0], ...
                           'LineWidth', 2);
      names{end+1} = limits{l,2};
    end
  end
  set (ax, 'XScale', 'log', 'YScale', 'log', 'XLim', extent, 'XGrid', 'on', 'YGrid', 'on', ...
       'XMinorGrid', 'off', 'YMinorGrid', 'off', 'YMinorTick', 'off', 'Box', 'off', 'FontSize', 11);
  % gnuplot writes 10^{05} by default.
  powers = floor (log10 (min (speeds))):ceil (log10 (max (speeds)));
  set (ax, 'YLim', 10 .^ powers([1 end]), 'YTick', 10 .^ powers, ...
       'YTickLabel', arrayfun (@(p) sprintf ('10^{%d}', p), powers, 'UniformOutput', false));
  xlabel (ax, 'array length (points)');
  ylabel (ax, 'throughput (points/s)');
  text (0.5, 1.11, sprintf ('%d taps, double, from an ordinary array to a new one, at Octave''s prompt', taps), ...
        'Units', 'normalized', 'HorizontalAlignment', 'center', 'FontSize', 14, 'FontWeight', 'bold');
  text (0.5, 1.05, machine (results), 'Units', 'normalized', 'HorizontalAlignment', 'center', 'FontSize', 11, ...
        'Interpreter', 'none');
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

% Returns the last field of the line `info,,,machine`, which is in quotes if it
% has commas.
function text = machine (file)
  text = regexp (fileread (file), '^info,,,machine,(?:[^,\n]*,){8}"?([^"\n]*)', 'tokens', 'once', 'lineanchors');
  if (isempty (text))
    error ('plot_bench: %s does not name its machine', file);
  end
  text = text{1};
end

% The fields of every line as texts. Plotted fields have no commas; those of
% other lines may, and are cut.
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
