% plot_timeline (TIMELINE, PICTURE, FROM, MILLISECONDS)  Draws a part of what a call on several GPUs wrote to the file
% that STENCIL_TIMELINE named: when each swept (dark), and when halos travelled to it (light).
function plot_timeline (timeline, picture, from, milliseconds)
  events = jsondecode (fileread (timeline)).traceEvents;
  if (isstruct (events)), events = num2cell (events); end
  spans = [events(cellfun (@(e) strcmp (e.ph, 'X'), events)){:}];
  begins = [spans.ts] / 1e3 - from;
  ends = begins + [spans.dur] / 1e3;
  inside = ends > 0 & begins < milliseconds;
  [spans, begins, ends] = deal (spans(inside), max (begins(inside), 0), min (ends(inside), milliseconds));
  warning ('off', 'Octave:gnuplot-graphics');
  warning ('off', 'print:nogs');
  graphics_toolkit ('gnuplot');
  devices = max ([spans.pid]) + 1;
  fig = figure ('Visible', 'off', 'Color', 'w', 'Position', [100 100 1000 120 + 110 * devices]);
  ax = axes ('Position', [0.14 0.22 0.83 0.66]);
  hold (ax, 'on');
  colours = {[0.00 0.32 0.62], [0.95 0.62 0.00]};
  places = {};
  for d = 0:devices - 1
    for line = 0:1
      these = find ([spans.pid] == d & [spans.tid] == line);
      y = -(2.5 * d + line);
      for i = these
        fill ([begins(i) ends(i) ends(i) begins(i)], y + [-0.4 -0.4 0.4 0.4], colours{line+1}, 'EdgeColor', 'w', ...
              'LineWidth', 0.5, 'Parent', ax);
      end
      places(end+1,:) = {y, sprintf('GPU %d, %s', d + 1, {'sweeps', 'halos'}{line+1})};
    end
  end
  [~, order] = sort ([places{:,1}]);
  places = places(order,:);
  set (ax, 'XLim', [0 milliseconds], 'YLim', [min([places{:,1}]) - 0.7, 0.7], 'YTick', [places{:,1}], ...
       'YTickLabel', places(:,2), 'Box', 'off', 'FontSize', 11);
  xlabel (ax, 'milliseconds');
  print (fig, picture, '-dpngcairo');
end
