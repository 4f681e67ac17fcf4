function [arguments, asked] = stepOptions (f, inputs)
  % The arguments of a step, and the options behind them.
  at = find (cellfun (@ischar, inputs), 1);
  if isempty (at)
    at = numel (inputs) + 1;
  end
  arguments = inputs(1:at-1);
  asked = struct ('States', []);
  for i = at:2:numel (inputs)
    asked.(inputs{i}) = inputs{i+1};
  end
  if isempty (asked.States)
    asked.States = nargout (f);
    if asked.States < 0 || strncmp (func2str (f), '@', 1)
      asked.States = numel (arguments);
    end
  end
end
