% Sweeps of two time levels along lines, on arrays that stay on the device, from Octave's prompt, as lines of CSV:
%   levels,TAPS,LENGTH,LINES,US,RATE,STEPWISE
% with the microseconds of a sweep, the updates in a nanosecond, and how many times as long a sweep with a source takes,
% which here is the number -0: generated kernels do it.
%
% levels ()                 the backend that a call without options uses
% levels (BACKEND, QUICK)   'auto', 'cuda' or 'cpu'; with QUICK true small arrays, to see that it works
function levels (backend, quick)
  if (nargin < 1), backend = 'auto'; end
  if (nargin < 2), quick = false; end
  find_functions ();
  sizes = [1e8 1; 1e7 1; 1e6 1; 1e5 1; 1e4 1; 1000 1; 100 1; 1000 1e4; 100 1e5];
  least = 0.05;
  if (quick)
    sizes = [100 1; 10 10];
    least = 0.001;
  end
  printf ('levels,taps,length,lines,us,rate,stepwise\n');
  for taps = [3 5 7 9]
    k = ones (1, taps) / (2 * taps);
    for size = sizes'
      u = DeviceArray (rand (size'), 'Backend', backend);
      v = DeviceArray (rand (size'), 'Backend', backend);
      options = {'Dim', 1, 'Previous', v, 'Weight', -0.5};
      us = sweep_time (@(m) StencilConstantMemory_CUDA (u, k, options{:}, 'Iterations', m), least);
      stepwise = sweep_time (@(m) StencilConstantMemory_CUDA (u, k, options{:}, 'Source', -0, 'Iterations', m), least);
      printf ('levels,%d,%d,%d,%.3f,%.1f,%.1f\n', taps, size, us, prod (size) / us / 1e3, stepwise / us);
    end
  end
end
