function results = ConstantMemoryStudy_Demo (folder, results)
%ConstantMemoryStudy_Demo  Tables and a figure of all studies.
%
%   ConstantMemoryStudy_Demo
%   ConstantMemoryStudy_Demo (FOLDER)
%   ConstantMemoryStudy_Demo (FOLDER, RESULTS)
%   RESULTS = ConstantMemoryStudy_Demo (...)
%
%   Runs all studies of ConstantMemoryStudy_CUDA, prints what they measured as
%   tables, and draws the study 'access': for each way of access a bar for the
%   table in constant memory beside one for the table in global memory, on a
%   logarithmic scale, a panel for each number of sums. Above each pair stands
%   how many times as long constant memory took.
%
%   Where there is a display the figure opens in a window. Where there is none
%   it is written to the current folder as study_demo.png. With FOLDER it is
%   always written, into FOLDER (made when it is missing), and no window opens.
%   FOLDER may be '' to give none. The results are written beside it as
%   study_demo.csv.
%
%   With RESULTS nothing is measured: tables and figure are made from it. It is
%   what ConstantMemoryStudy_CUDA or this function returned, or the name of a
%   file study_demo.csv, which is left as it is. That needs neither a GPU nor
%   the MEX file.
%
%   Without a usable GPU, and without RESULTS, one line says so; that is no
%   error.
%
%   Output
%     RESULTS  column of structs, as ConstantMemoryStudy_CUDA returns it, of all
%              studies; [] where nothing could be measured
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   tables are still printed, after a warning for the picture.
%
%   Errors
%     ConstantMemoryStudy_Demo:folder   FOLDER cannot be made, or written to
%     ConstantMemoryStudy_Demo:results  RESULTS is neither such structs nor such
%                                       a file
%
%   Examples
%     % Measure and show. Without a usable GPU it prints a line that says so
%     ConstantMemoryStudy_Demo
%
%     % Measure and keep; draw what was kept again
%     results = ConstantMemoryStudy_Demo ('run1');
%     if ~isempty (results)
%       ConstantMemoryStudy_Demo ('run1', 'run1/study_demo.csv');
%     end
%
%   See also ConstantMemoryStudy_CUDA, ConstantMemoryDevice_CUDA, compile_mex.

  given = nargin > 0 && ~isempty (folder);
  if given
    folder = char (folder);
    makeFolder (folder);
  else
    folder = pwd ();
  end

  saved = false;
  deviceName = '';
  if nargin < 2
    [results, deviceName] = measureAll ();
    if isempty (results)
      if nargout == 0
        clear results
      end
      return
    end
  elseif ischar (results) || isa (results, 'string')
    [results, deviceName] = readResults (char (results));
    saved = true;
  end
  if ~isstruct (results) || isempty (results) || ~all (isfield (results, fieldNames ()))
    error ('ConstantMemoryStudy_Demo:results', ...
           'The results are not what ConstantMemoryStudy_CUDA returns: a struct array with its fields.');
  end
  results = results(:);

  printTables (results);
  if ~saved
    file = fullfile (folder, 'study_demo.csv');
    writeResults (file, results, deviceName);
    fprintf ('\n  results           %s\n', file);
  end
  if any (strcmp ({results.Study}, 'access'))
    show.folder = folder;
    show.window = ~given && demoFigure ();
    demoFigure ('ConstantMemoryStudy_Demo', show, 'study_demo.png', [1000 560], @() drawAccess (results, deviceName));
  end
  if nargout == 0
    clear results
  end
end

% ---- Measuring -------------------------------------------------------------

% All studies, one after the other; [] where there is no GPU.
function [results, deviceName] = measureAll ()
  results = [];
  deviceName = '';
  here = fileparts (mfilename ('fullpath'));
  if exist (fullfile (here, ['ConstantMemoryStudy_CUDA.' mexext]), 'file') == 0
    fprintf ('The MEX file is not built yet: running compile_mex.\n');
    addpath (here);
    compile_mex ();
  end
  try
    % The least that can be measured, to see whether anything can.
    ConstantMemoryStudy_CUDA ('angles', 'Threads', 1);
  catch failure
    if ~strcmp (failure.identifier, 'ConstantMemoryStudy:noDevice')
      rethrow (failure);
    end
    fprintf ('Nothing is measured or drawn, for that needs a GPU: %s\n', ...
             regexprep (failure.message, '^.*ConstantMemoryStudy_CUDA: ', ''));
    return
  end
  device = ConstantMemoryDevice_CUDA ();
  deviceName = device.Name;
  fprintf ('Measuring on %s (compute capability %s)\n', device.Name, device.ComputeCapability);
  studies = {'access', 'readonly', 'angles', 'convolution'};
  parts = cell (size (studies));
  for k = 1:numel (studies)
    parts{k} = ConstantMemoryStudy_CUDA (studies{k});
  end
  results = vertcat (parts{:});
end

% ---- Tables ------------------------------------------------------------------

function printTables (results)
  names = {results.Study};
  [~, first] = unique (names, 'first');
  studies = names(sort (first));
  for k = 1:numel (studies)
    rows = results(strcmp (names, studies{k}));
    fprintf ('\n%s\n', studies{k});
    fprintf ('  %10s %6s  %-22s %-9s %10s  %-21s %10s %8s %6s\n', 'elements', 'block', 'pattern', ...
             'kernel', 'median ms', 'quartiles', 'batch ms', 'GB/s', 'op/B');
    for n = 1:numel (rows)
      row = rows(n);
      operations = '';
      if ~isnan (row.OperationsPerByte)
        operations = sprintf ('%.2f', row.OperationsPerByte);
      end
      fprintf ('  %10d %6d  %-22s %-9s %10.5f  %-21s %10.5f %8.1f %6s\n', row.Elements, row.BlockSize, ...
               row.Pattern, row.Kernel, row.MedianMs, ...
               sprintf ('%.5f .. %.5f', row.LowerQuartileMs, row.UpperQuartileMs), ...
               row.BatchMeanMs, row.GBPerSecond, operations);
    end
  end
end

% ---- Results as a file -------------------------------------------------------

% The fields, in the order of the columns. The samples are several in one column.
function names = fieldNames ()
  names = {'Study', 'Kernel', 'Pattern', 'BlockSize', 'Elements', 'MedianMs', 'LowerQuartileMs', ...
           'UpperQuartileMs', 'BatchMeanMs', 'GBPerSecond', 'OperationsPerByte', 'Samples', 'Checked'};
end

function yes = isText (name)
  yes = any (strcmp (name, {'Study', 'Kernel', 'Pattern'}));
end

% The first line is a comment with the device's name.
function writeResults (file, results, deviceName)
  [fid, why] = fopen (file, 'w');
  if fid < 0
    error ('ConstantMemoryStudy_Demo:folder', '%s cannot be written: %s', file, why);
  end
  closing = onCleanup (@() fclose (fid));
  names = fieldNames ();
  fprintf (fid, '# %s\n', deviceName);
  fprintf (fid, '%s\n', strjoin (names, ','));
  for n = 1:numel (results)
    cells = cell (size (names));
    for k = 1:numel (names)
      value = results(n).(names{k});
      if ~isText (names{k})
        % All digits: what is read is what was written.
        value = strtrim (sprintf ('%.17g ', value));
      end
      cells{k} = value;
    end
    fprintf (fid, '%s\n', strjoin (cells, ','));
  end
end

function [results, deviceName] = readResults (file)
  if exist (file, 'file') == 0
    error ('ConstantMemoryStudy_Demo:results', 'There is no file %s.', file);
  end
  lines = strsplit (strtrim (fileread (file)), sprintf ('\n'));
  names = fieldNames ();
  if numel (lines) < 3 || ~strncmp (lines{1}, '#', 1) || ~strcmp (strtrim (lines{2}), strjoin (names, ','))
    error ('ConstantMemoryStudy_Demo:results', '%s is no study_demo.csv.', file);
  end
  deviceName = strtrim (lines{1}(2:end));
  rows = cell (numel (lines) - 2, 1);
  for n = 1:numel (rows)
    cells = strsplit (strtrim (lines{n + 2}), ',', 'CollapseDelimiters', false);
    if numel (cells) ~= numel (names)
      error ('ConstantMemoryStudy_Demo:results', '%s: line %d has %d columns, not %d.', ...
             file, n + 2, numel (cells), numel (names));
    end
    for k = 1:numel (names)
      if ~isText (names{k})
        cells{k} = sscanf (cells{k}, '%f')';
      end
    end
    rows{n} = cell2struct (cells(:), names(:), 1);
  end
  results = vertcat (rows{:});
end

% ---- The figure --------------------------------------------------------------

function drawAccess (results, deviceName)
  kernels = {'constant', 'global'};
  colours = {[0.00 0.32 0.62], [0.90 0.42 0.00]};
  rows = results(strcmp ({results.Study}, 'access'));
  settings = flipud (unique ([[rows.Elements]', [rows.BlockSize]'], 'rows'));
  count = size (settings, 1);
  left = 0.08;  right = 0.02;  gap = 0.09;
  width = (1 - left - right - (count - 1) * gap) / count;
  for k = 1:count
    place = [left + (k - 1) * (width + gap), 0.12, width, 0.66];
    these = rows([rows.Elements] == settings(k,1) & [rows.BlockSize] == settings(k,2));
    ax = axes ('Position', place);
    drawPanel (ax, these, kernels, colours);
    title (ax, sprintf ('%s sums in blocks of %d', grouped (settings(k,1)), settings(k,2)), ...
           'FontSize', 12, 'FontWeight', 'normal');
    ylabel (ax, 'time of a launch ({\mu}s)');
  end

  heading = 'Which reads constant memory likes';
  if ~isempty (deviceName)
    heading = [heading ' (' deviceName ')'];
  end
  ax = axes ('Position', [0 0.86 1 0.14], 'Visible', 'off', 'XLim', [0 1], 'YLim', [0 1]);
  words = {'Parent', ax, 'VerticalAlignment', 'middle', 'Interpreter', 'none'};
  text (0.5, 0.72, heading, words{:}, 'HorizontalAlignment', 'center', 'FontSize', 15, 'FontWeight', 'bold');
  % A legend by hand: there is no place for one among the bars.
  names = {'table in constant memory', 'table in global memory'};
  starts = [0.14 0.40];
  for k = 1:2
    patch (starts(k) + [0 0.02 0.02 0], 0.25 + [-0.1 -0.1 0.1 0.1], colours{k}, 'Parent', ax, 'EdgeColor', 'none');
    text (starts(k) + 0.03, 0.25, names{k}, words{:}, 'FontSize', 11);
  end
  text (0.64, 0.25, '2.00 x', words{:}, 'FontSize', 11, 'FontWeight', 'bold', 'Color', [0.25 0.25 0.25]);
  text (0.70, 0.25, 'constant takes twice as long', words{:}, 'FontSize', 11);
end

function drawPanel (ax, rows, kernels, colours)
  patterns = {'one_access_per_block', 'one_access_per_warp', 'one_access_per_thread', 'pseudo_random'};
  names    = {'per block', 'per warp', 'per thread', 'random'};
  times = nan (numel (patterns), numel (kernels));
  for p = 1:numel (patterns)
    for k = 1:numel (kernels)
      this = find (strcmp ({rows.Pattern}, patterns{p}) & strcmp ({rows.Kernel}, kernels{k}), 1);
      if ~isempty (this)
        times(p,k) = 1000 * rows(this).MedianMs;
      end
    end
  end
  shown = find (any (~isnan (times), 2))';
  times = times(shown,:);

  % Bars end at the axis, as a logarithmic scale has no zero; at the top there
  % is room for the figures.
  low  = min (times(:)) / 2.5;
  high = max (times(:)) * 2.4;
  [ticks, labels] = decadeTicks (low, high / 1.5);
  set (ax, 'YScale', 'log', 'YLim', [low high], 'YTick', ticks, 'YTickLabel', labels, ...
       'YMinorTick', 'off', 'YMinorGrid', 'off', 'YGrid', 'on', ...
       'XLim', [0.4, numel(shown) + 0.6], 'XTick', 1:numel (shown), 'XTickLabel', names(shown), ...
       'Box', 'off', 'FontSize', 11, 'TickDir', 'out', 'TickLength', [0.005 0.005], 'Layer', 'bottom');
  half = 0.36;
  for p = 1:numel (shown)
    for k = find (~isnan (times(p,:)))
      x = p + [-half 0] + (k - 1) * half;
      patch (x([1 2 2 1]), [low low times(p,k) times(p,k)], colours{k}, 'Parent', ax, ...
             'EdgeColor', 'w', 'LineWidth', 1);
      text (mean (x), times(p,k) * 1.06, briefly (times(p,k)), 'Parent', ax, 'FontSize', 10, ...
            'HorizontalAlignment', 'center', 'VerticalAlignment', 'bottom', 'Color', colours{k});
    end
    if ~any (isnan (times(p,:)))
      text (p, high / 1.15, sprintf ('%.2f x', times(p,1) / times(p,2)), 'Parent', ax, 'FontSize', 11, ...
            'HorizontalAlignment', 'center', 'FontWeight', 'bold', 'Color', [0.25 0.25 0.25]);
    end
  end
  xlabel (ax, 'which entry a thread takes');
end

% Ticks at 1, 2 and 5 times each power of ten between two times.
function [ticks, labels] = decadeTicks (low, high)
  powers = floor (log10 (low)):ceil (log10 (high));
  ticks = reshape ([1; 2; 5] * 10 .^ powers, 1, []);
  ticks = ticks(ticks >= low & ticks <= high);
  labels = arrayfun (@(tick) sprintf ('%g', tick), ticks, 'UniformOutput', false);
end

% A time with three digits, or all those before the point.
function text = briefly (time)
  text = sprintf ('%.*f', max (0, 2 - floor (log10 (time))), time);
end

% 12800000 as 12,800,000.
function text = grouped (number)
  text = fliplr (regexprep (fliplr (sprintf ('%d', number)), '(\d{3})(?=\d)', '$1,'));
end

% ---- Folder --------------------------------------------------------------------

function makeFolder (folder)
  if exist (folder, 'dir') == 0
    [made, why] = mkdir (folder);
    if ~made
      error ('ConstantMemoryStudy_Demo:folder', 'The folder "%s" cannot be made: %s', folder, why);
    end
  end
end
