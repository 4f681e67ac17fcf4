function state = rng (state)
%rng  The seed of random numbers on the device.
%
%   DeviceArray.rng (SEED)        begins anew: a whole number from 0 below 2^32
%   DeviceArray.rng ('default')   seed 0, with which a session begins
%   DeviceArray.rng ('shuffle')   a seed by the clock
%   S = DeviceArray.rng           the state: a struct of Type, Seed and State
%   DeviceArray.rng (S)           goes on from there
%   S = DeviceArray.rng (...)     the state before
%
%   All DeviceArrays of a session share it. State is the number of draws since
%   the seed was set: a call of rand, randn or randi is one.
%
%   Errors
%     DeviceArray:option  what is no seed and no state
%
%   Example
%     s = DeviceArray.rng;
%     u = DeviceArray.rand (3);
%     DeviceArray.rng (s);
%     v = DeviceArray.rand (3);
%     isequal (u, v)              % true
%
%   See also rand, randn, randi.

  before = DeviceArray_CUDA ('rng');
  before = struct ('Type', 'philox', 'Seed', before(1), 'State', before(2));
  if nargin > 0
    if isequal (state, 'default')
      next = [0 0];
    elseif isequal (state, 'shuffle')
      next = [mod(floor (now () * 864e5), 2 ^ 32), 0];
    elseif isstruct (state) && all (isfield (state, {'Type', 'Seed', 'State'})) && isequal (state.Type, 'philox')
      next = [state.Seed, state.State];
    elseif isnumeric (state) && isscalar (state)
      next = [double(state), 0];
    else
      badOption ('DeviceArray.rng takes a seed, ''default'', ''shuffle'', or what it has returned.');
    end
    DeviceArray_CUDA ('rng', next);
  end
  if nargin == 0 || nargout > 0
    state = before;
  end
end
