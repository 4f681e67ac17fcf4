function [held, given] = onDevice (states, others)
  % The states as DeviceArrays; which of them were ordinary arrays.
  given = ~cellfun (@(x) isa (x, 'DeviceArray'), states);
  held = states;
  like = [states(~given), others(cellfun (@(x) isa (x, 'DeviceArray'), others))];
  place = {};
  if ~isempty (like)
    where = DeviceArray_CUDA ('where', like{1});
    place = {'Backend', where.Backend};
    if where.Device > 0
      place = [place, {'Device', where.Device}];
    end
  end
  held(given) = cellfun (@(x) DeviceArray (x, place{:}), states(given), 'UniformOutput', false);
end
