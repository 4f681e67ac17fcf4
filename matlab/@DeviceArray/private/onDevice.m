function [held, given, place] = onDevice (states, others)
%onDevice  The states as DeviceArrays, which of them were ordinary arrays, and
%          the options by which an array lies where they do.

  given = ~cellfun (@(x) isa (x, 'DeviceArray'), states);
  arrays = [states(~given), others(cellfun (@(x) isa (x, 'DeviceArray'), others))];
  if isempty (arrays)
    arrays = {DeviceArray(0)};
  end
  where = DeviceArray_CUDA ('where', arrays{1});
  place = {'Backend', where.Backend};
  if where.Device > 0
    place = [place, {'Device', where.Device}];
  end
  held = states;
  held(given) = cellfun (@(x) DeviceArray (x, place{:}), states(given), 'UniformOutput', false);
end
