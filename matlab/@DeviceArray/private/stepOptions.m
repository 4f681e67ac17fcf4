function [arguments, asked] = stepOptions (f, inputs)
%stepOptions  The arguments of a step, and the options behind them.

  if ~isa (f, 'function_handle')
    badOption ('The step is a function, such as @react or @(u) 2 * u.');
  end
  at = find (cellfun (@ischar, inputs), 1);
  if isempty (at)
    at = numel (inputs) + 1;
  end
  arguments = inputs(1:at-1);
  pairs = inputs(at:end);
  asked = struct ('States', [], 'Every', 0, 'Record', [], 'Values', [], 'Until', [], 'Check', 10, 'Progress', false);
  if mod (numel (pairs), 2)
    badOption ('Options are pairs of a name and a value.');
  end
  names = fieldnames (asked);
  for i = 1:2:numel (pairs)
    found = find (strcmpi (pairs{i}, names));
    if isempty (found)
      badOption (sprintf ('%s is no option; options are %s.', nameText (pairs{i}), strjoin (names', ', ')));
    end
    asked.(names{found}) = pairs{i+1};
  end
  if isempty (asked.States)
    try
      count = nargout (f);
    catch
      % Of a function of the host's nobody knows.
      count = -1;
    end
    if count < 0 || strncmp (func2str (f), '@', 1)
      count = numel (arguments);
    end
    asked.States = min (count, numel (arguments));
  end
  checkWhole ('States', asked.States, 1);
  checkWhole ('Every', asked.Every, 0);
  checkWhole ('Check', asked.Check, 1);
  for name = {'States', 'Every', 'Check'}
    asked.(name{1}) = double (asked.(name{1}));
  end
  if asked.States > numel (arguments)
    badOption (sprintf ('%d states were asked for, and %d arguments given.', asked.States, numel (arguments)));
  end
  if ~((islogical (asked.Progress) || isnumeric (asked.Progress)) && isscalar (asked.Progress))
    badOption ('Bad value for ''Progress'': expected true or false.');
  end
  asked.Progress = double (asked.Progress);
  for name = {'Record', 'Until'}
    if ~isempty (asked.(name{1})) && ~isa (asked.(name{1}), 'function_handle')
      badOption (sprintf ('Bad value for ''%s'': expected a function of the states.', name{1}));
    end
  end
  if ~(isfloat (asked.Values) && isreal (asked.Values) && ndims (asked.Values) == 2)
    badOption ('Bad value for ''Values'': expected a real matrix with a column a step.');
  end
end

function text = nameText (name)
  text = sprintf ('A value of class %s', class (name));
  if ischar (name)
    text = ['''' name ''''];
  end
end

function checkWhole (name, value, least)
  if ~(isnumeric (value) && ~isa (value, 'DeviceArray') && isscalar (value) && value >= least && value == fix (value) && value < 2^53)
    badOption (sprintf ('Bad value for ''%s'': expected a whole number from %d.', name, least));
  end
end
