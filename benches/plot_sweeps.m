% plot_sweeps (RESULTS, PICTURE)  Draws what benches/sweeps_images.m printed: updates a second over the filter's size, of
% images in many sweeps, beside the limits of an H200 and FastStencil.
%
% Lines `peer,double,3x3,NAME,SIZE,SWEEPS,UPDATES` in RESULTS are another program's.
function plot_sweeps (results, picture)
  lines = strsplit (fileread (results), "\n");
  heading = regexprep (lines{1}, '^# *', '');
  % Without a display, as the demos do it; the two notices are of no use here.
  warning ('off', 'Octave:gnuplot-graphics');
  warning ('off', 'print:nogs');
  graphics_toolkit ('gnuplot');
  fig = figure ('Visible', 'off', 'Color', 'w', 'Position', [100 100 1000 680]);
  ax = axes ('Position', [0.09 0.10 0.88 0.77]);
  hold (ax, 'on');
  % What bounds a sweep: 4.24 TB/s to and from memory, 16 or 8 bytes an update; 32 TFLOP/s of the vector units in double
  % and 64 in single, 64 of the tensor cores in double (BENCHMARKS.md).
  sizes = [3 5 7 9 11 13 15];
  one_sweep = repmat (265, size (sizes));
  vector = 32e3 ./ (2 * sizes.^2);
  limits = {'memory, double, one sweep a launch', one_sweep, '--'; ...
            'multiply-adds, double, vector units', vector, '-'; ...
            'multiply-adds, double, tensor cores', 2 * vector, ':'};
  shown = [];
  names = {};
  for l = 1:size (limits, 1)
    shown(end+1) = plot (ax, sizes, limits{l,2}, limits{l,3}, 'Color', [0.45 0.45 0.45], 'LineWidth', 1.5);
    names{end+1} = limits{l,1};
  end
  ours = {'^sweeps,single,', ',0,', 'stencil-mex, single, many sweeps', [0.95 0.62 0.00], '-s'; ...
          '^sweeps,double,', ',0,', 'stencil-mex, double, many sweeps', [0.80 0.25 0.00], '-o'; ...
          '^sweeps,star double,', ',0,', 'stencil-mex, double, zeros beside the middle', [0.80 0.25 0.00], '-p'; ...
          '^pass,double,', ',0,', 'stencil-mex, double, one pass', [0.80 0.25 0.00], ':o'; ...
          '^peer,double,', ',FastStencil,', 'FastStencil, double, many sweeps, borders not true', [0.00 0.32 0.62], '-v'; ...
          '^peer,star double,', ',FastStencil,', 'FastStencil, double, zeros beside the middle', [0.00 0.32 0.62], '-^'};
  for o = 1:size (ours, 1)
    taps = [];
    rates = [];
    for l = 1:numel (lines)
      fields = strsplit (lines{l}, ',', 'CollapseDelimiters', false);
      if (numel (fields) ~= 7 || isempty (regexp (lines{l}, ours{o,1}, 'once')) || isempty (strfind (lines{l}, ours{o,2})))
        continue
      end
      sides = sscanf (fields{3}, '%dx')';
      area = sscanf (fields{5}, '%dx')';
      if (numel (sides) ~= 2 || sides(1) ~= sides(2) || prod (area) < 6e7)
        continue
      end
      taps(end+1) = sides(1);
      rates(end+1) = str2double (fields{7});
    end
    if (isempty (taps))
      continue
    end
    [taps, order] = sort (taps);
    shown(end+1) = plot (ax, taps, rates(order), ours{o,5}, 'Color', ours{o,4}, 'LineWidth', 2.5, 'MarkerSize', 7, ...
                         'MarkerFaceColor', ours{o,4});
    names{end+1} = ours{o,3};
  end
  set (ax, 'YScale', 'log', 'XLim', [2.5 15.5], 'XTick', sizes, 'YLim', [50 5000], 'YTick', [50 100 200 500 1000 2000 5000], ...
       'YTickLabel', {'50', '100', '200', '500', '1000', '2000', '5000'}, 'XGrid', 'on', 'YGrid', 'on', ...
       'XMinorGrid', 'off', 'YMinorGrid', 'off', 'YMinorTick', 'off', 'Box', 'off', 'FontSize', 11, ...
       'XTickLabel', arrayfun (@(s) sprintf ('%d x %d', s, s), sizes, 'UniformOutput', false));
  xlabel (ax, 'filter (taps)');
  ylabel (ax, 'thousand million updates a second');
  text (0.5, 1.11, 'Convolutions of an image that lives on the device, from Octave''s prompt', ...
        'Units', 'normalized', 'HorizontalAlignment', 'center', 'FontSize', 14, 'FontWeight', 'bold');
  text (0.5, 1.05, heading, 'Units', 'normalized', 'HorizontalAlignment', 'center', 'FontSize', 11, ...
        'Interpreter', 'none');
  legend (shown, names, 'Location', 'northeast');
  legend ('boxoff');
  print (fig, picture, '-dpngcairo');
  close (fig);
end
