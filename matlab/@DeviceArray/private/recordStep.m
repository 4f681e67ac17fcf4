function [step, classes, kernels] = recordStep (f, states, constants, asked, place, again)
%recordStep  Records a step: its number, the classes of its states, and how
%            many kernels and other operations it is.

  if isempty (again)
    step = DeviceArray_CUDA ('record', states{1});
  else
    step = DeviceArray_CUDA ('record', states{1}, again);
  end
  try
    argument = @(u) DeviceArray_CUDA ('argument', step, u);
    traced = cellfun (argument, states, 'UniformOutput', false);
    values = cell (1, size (asked.Values, 1));
    for i = 1:numel (values)
      values{i} = argument (DeviceArray (asked.Values(i), place{:}));
    end
    results = cell (size (states));
    [results{:}] = f (traced{:}, values{:}, constants{:});
    results = cellfun (@(x) arrayOf (x, place), results, 'UniformOutput', false);
    for i = 1:numel (results)
      if ~isequal (size (results{i}), size (states{i}))
        error ('DeviceArray:trace', 'State %d changes its size in a step, from %s to %s, and a step keeps sizes.', i, ...
               sizeText (size (states{i})), sizeText (size (results{i})));
      end
    end
    classes = cellfun (@underlyingType, results, 'UniformOutput', false);
    others = {};
    for g = {asked.Record, asked.Until}
      if ~isempty (g{1})
        others{end+1} = arrayOf (g{1} (results{:}), place); %#ok<AGROW>
      end
    end
    if ~isempty (asked.Until) && numel (others{end}) ~= 1
      error ('DeviceArray:trace', '''Until'' gives %s values, and one is expected: all (...) or any (...) makes it so.', ...
             sizeText (size (others{end})));
    end
    shape = [numel(results), ~isempty(asked.Record), ~isempty(asked.Until)];
    kernels = DeviceArray_CUDA ('finish', step, shape, results{:}, others{:});
  catch caught
    if isempty (again)
      forgetStep (step);
    else
      % A step that was compiled before stays.
      DeviceArray_CUDA ('forget', step, true);
    end
    explain (caught, numel (states));
  end
end

function u = arrayOf (x, place)
  u = x;
  if ~isa (x, 'DeviceArray')
    u = DeviceArray (x, place{:});
  end
end

% What a recording ends with: where, and under the identifier of what cannot be recorded.
function explain (caught, count)
  if ~isempty (regexp (caught.message, 'undefined in return list', 'once'))
    badOption (sprintf ('The step gives fewer results than there are states, which are %d: ''States'' says how many.', count));
  end
  kind = regexp (caught.identifier, '[^:]*$', 'match', 'once');
  text = caught.message;
  if ~isempty (regexp (text, 'assignment of ''object'' to indexed|cannot be put into an ordinary array', 'once'))
    kind = 'trace';
    text = ['A value of a step cannot be put into an ordinary array. Begin with zeros (..., ''like'', u), or join values ' ...
            'by [a, b].'];
  end
  if ~any (strcmp (kind, {'trace', 'unsupported'}))
    rethrow (caught);
  end
  place = '';
  own = fileparts (fileparts (mfilename ('fullpath')));
  others = fullfile (fileparts (own), 'private');
  for i = 1:numel (caught.stack)
    frame = caught.stack(i);
    if isempty (frame.file) || isempty (strfind (frame.file, own)) && isempty (strfind (frame.file, others)) %#ok<STREMP>
      place = sprintf (' (%s)', frame.name);
      if frame.line > 0
        place = sprintf (' (%s, line %d)', frame.name, frame.line);
      end
      break;
    end
  end
  error ('DeviceArray:trace', 'A step cannot be recorded%s: %s', place, text);
end
