function [held, given, place] = onDevice (states, others)
%onDevice  Gives the states as DeviceArrays, the mask of those that were
%          ordinary arrays, and the options by which an array lies there.

  given = true (size (states));
  for i = 1:numel (states)
    given(i) = ~isa (states{i}, 'DeviceArray');
  end
  arrays = states(~given);
  for i = 1:numel (others)
    if isempty (arrays) && isa (others{i}, 'DeviceArray')
      arrays = others(i);
    end
  end
  if isempty (arrays)
    arrays = {DeviceArray(0)};
  end
  where = DeviceArray_CUDA ('where', arrays{1});
  place = {'Backend', where.Backend};
  if where.Device > 0
    place = [place, {'Device', where.Device}];
  end
  held = states;
  for i = find (given)
    held{i} = DeviceArray (states{i}, place{:});
  end
end
