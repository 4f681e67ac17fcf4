function [held, given] = onDevice (states, others)
%onDevice  Gives the states as DeviceArrays, all where one of them or of the
%          others lies, and the mask of those that were ordinary arrays.

  given = true (size (states));
  for i = 1:numel (states)
    given(i) = ~isa (states{i}, 'DeviceArray');
  end
  held = states;
  if ~any (given)
    return
  end
  first = find (~given, 1);
  if ~isempty (first)
    like = states{first};
  else
    like = [];
    for i = 1:numel (others)
      if isempty (like) && isa (others{i}, 'DeviceArray')
        like = others{i};
      end
    end
    if ~isa (like, 'DeviceArray')
      like = DeviceArray (0);
    end
  end
  for i = find (given)
    held{i} = beside (states{i}, like);
  end
end
