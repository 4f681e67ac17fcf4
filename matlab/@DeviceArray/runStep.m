function varargout = runStep (guard, number, f, asked, arguments) %#ok<INUSL>
%runStep  A compiled step, recorded anew where it has to be.
%
%   The function that DeviceArray.compile returns calls it; do not call it.
%
%   Example
%     step = DeviceArray.compile (@(u) 2 * u, DeviceArray (0:9));
%     u = step (DeviceArray (1:10));
%
%   See also compile.

  if numel (arguments) < asked.States
    badOption (sprintf ('The step takes %d states, and %d arguments were given.', asked.States, numel (arguments)));
  end
  if nargout > asked.States
    badOption (sprintf ('%d outputs were asked for, and the step gives %d.', nargout, asked.States));
  end
  constants = arguments(asked.States+1:end);
  [held, given] = onDevice (arguments(1:asked.States), constants);
  results = cell (1, asked.States);
  once = [1 0 1 0 1 0];
  if numel (constants) ~= asked.Constants
    another = DeviceArray_CUDA ('record', held{1});
    gone = whenGone (@(varargin) forgetStep (another)); %#ok<NASGU>
    recordStep (another, f, held, constants, asked);
    [results{:}] = DeviceArray_CUDA ('run', another, once, [], held{:});
  else
    fits = ~asked.Anew && (isempty (constants) || areAlike (constants, keptConstants (number)));
    if fits
      try
        [results{:}] = DeviceArray_CUDA ('run', number, once, [], held{:});
      catch caught
        fits = ~strcmp (caught.identifier, 'DeviceArray:trace');
        if fits
          rethrow (caught);
        end
      end
    end
    if ~fits
      DeviceArray_CUDA ('record', held{1}, number);
      % The step that was compiled before stays.
      over = whenGone (@(varargin) DeviceArray_CUDA ('forget', number, true)); %#ok<NASGU>
      recordStep (number, f, held, constants, asked);
      keptConstants (number, constants);
      [results{:}] = DeviceArray_CUDA ('run', number, once, [], held{:});
    end
  end
  for i = find (given)
    results{i} = gather (results{i});
  end
  varargout = results(1:max (nargout, 1));
end
