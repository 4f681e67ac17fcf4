function [arguments, asked] = stepOptions (f, inputs)
%stepOptions  The arguments of a step, and the options behind them.

  if ~isa (f, 'function_handle')
    badOption (sprintf ('The step is a function, such as @react or @(u) 2 * u, and got %s.', toldValue (f)));
  end
  at = find (cellfun ('isclass', inputs, 'char'), 1);
  if isempty (at)
    at = numel (inputs) + 1;
  end
  arguments = inputs(1:at-1);
  pairs = inputs(at:end);
  persistent none
  if isempty (none)
    none = struct ('States', [], 'Every', 0, 'Record', [], 'Values', [], 'Until', [], 'Check', 10, 'Progress', 0, 'Guessed', true);
  end
  asked = none;
  if ~isempty (pairs)
    names = fieldnames (asked);
    names(end) = [];
  end
  for i = 1:2:numel (pairs)
    found = find (strcmpi (pairs{i}, names));
    if isempty (found)
      badOption (sprintf (['Expected the name of an option behind the arrays, and got %s; options are %s. A text that F takes ' ...
                           'goes into a cell or a struct.'], toldValue (pairs{i}), strjoin (names', ', ')));
    end
    if i == numel (pairs)
      badOption (sprintf ('The option ''%s'' has no value.', names{found}));
    end
    asked.(names{found}) = pairs{i+1};
  end
  if isempty (arguments)
    badOption (['No state was given: the arrays that F steps stand behind it, DeviceArray.iterate (F, N, U, ...), ' ...
                'DeviceArray.compile (F, U, ...).']);
  end
  asked.Guessed = isempty (asked.States);
  if asked.Guessed
    try
      call = fromBase ();
      count = call (@nargout, f);
    catch
      % The number is unknown for a function of the host's.
      count = -1;
    end
    if count < 0 || strncmp (func2str (f), '@', 1)
      % All, up to what can be none: a struct, a cell, a function.
      is_state = cellfun (@mayBeState, arguments);
      count = max (find ([~is_state, true], 1) - 1, 1);
    end
    if count == 0
      badOption (sprintf ('%s gives nothing, and a step gives the states that it takes.', func2str (f)));
    end
    asked.States = min (count, numel (arguments));
  end
  if isempty (pairs)
    return
  end
  least = struct ('States', 1, 'Every', 0, 'Check', 1);
  for name = fieldnames (least)'
    asked.(name{1}) = wholeNumber (['''' name{1} ''''], asked.(name{1}), least.(name{1}));
  end
  if asked.States > numel (arguments)
    badOption (sprintf ('%d states were asked for, and %d arguments given.', asked.States, numel (arguments)));
  end
  if ~((islogical (asked.Progress) || isnumeric (asked.Progress)) && isscalar (asked.Progress) && ...
       any (asked.Progress == [0 1]))
    badOption (sprintf ('Bad value for ''Progress'': got %s, expected true or false.', toldValue (asked.Progress)));
  end
  asked.Progress = double (asked.Progress);
  for name = {'Record', 'Until'}
    if ~isempty (asked.(name{1})) && ~isa (asked.(name{1}), 'function_handle')
      badOption (sprintf ('Bad value for ''%s'': got %s, expected a function of the states.', name{1}, toldValue (asked.(name{1}))));
    end
  end
end

function yes = mayBeState (x)
  yes = isnumeric (x) || islogical (x);
end
