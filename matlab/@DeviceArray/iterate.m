function varargout = iterate (f, n, varargin)
%iterate  Steps of a solver, compiled, in one call.
%
%   [U, V, ...] = DeviceArray.iterate (F, N, U, V, ...)
%   [U, V, ..., INFO] = DeviceArray.iterate (F, N, U, V, ..., NAME, VALUE, ...)

  [arguments, asked] = stepOptions (f, varargin);
  count = asked.States;
  varargout = cell (1, max (nargout, 1));
  [held, given] = onDevice (arguments(1:count), arguments(count+1:end));
  constants = arguments(count+1:end);
  info = struct ('Steps', 0, 'Reason', 'steps', 'Kernels', 0, 'Milliseconds', 0);
  started = tic ();
  while info.Steps < n
    [step, classes, info.Kernels] = recordStep (f, held, constants);
    guard = onCleanup (@() DeviceArray_CUDA ('forget', step));
    % Where the first step changes a class, the others are recorded anew.
    changed = ~isequal (classes, cellfun (@underlyingType, held, 'UniformOutput', false));
    if changed && info.Steps > 0
      error ('DeviceArray:trace', 'The class of a state changes in a step after the first: %s.', strjoin (classes, ', '));
    end
    times = n - info.Steps;
    if changed
      times = 1;
    end
    [held{:}] = DeviceArray_CUDA ('run', step, times, held{:});
    info.Steps = info.Steps + times;
    clear guard
  end
  info.Milliseconds = 1000 * toc (started) / max (info.Steps, 1);
  held(given) = cellfun (@gather, held(given), 'UniformOutput', false);
  results = [held, {info}];
  varargout = results(1:max (nargout, 1));
end
