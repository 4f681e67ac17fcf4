% One pass of each function over arrays that stay on the device, from Octave's prompt, as lines of CSV:
%   ours,CLASS,FUNCTION,FILTER,SIZE,US,SHARE
% US is the time of a call in microseconds, in a row of calls. SHARE is the time of a copy of the array (u + 0) over that:
% 1 means that the memory is the limit.
%
% passes ()                 the backend that a call without options uses, arrays of 1 GB
% passes (BACKEND, QUICK)   'auto', 'cuda' or 'cpu'; with QUICK true small arrays, to see that it works
function passes (backend, quick)
  if (nargin < 1), backend = 'auto'; end
  if (nargin < 2), quick = false; end
  find_functions ();
  n = 2 ^ 27;
  side = 8192;
  edges = [512 256 128];
  sides = [8192 4096 2048 1024];
  if (quick)
    n = 2 ^ 12;
    side = 48;
    edges = 12;
    sides = 48;
  end
  S = @StencilConstantMemory_CUDA;
  D = @DerivativeConstantMemory_CUDA;
  C = @ConvolutionConstantMemory_CUDA;
  printf ('name,class,function,filter,size,us,share\n');

  for class = {'double', 'single'}
    array = @(varargin) DeviceArray (rand (varargin{:}, class{1}), 'Backend', backend);
    u = array (n, 1);
    copy = pass_time (class{1}, 'copy', '', u, @(u) u + 0, NaN);
    if (strcmp (class{1}, 'double'))
      for taps = 1:2:21
        k = ones (1, taps) / taps;
        pass_time ('double', 'stencil', sprintf ('%d', taps), u, @(u) S (u, k), copy);
      end
    end
    for memory = {'constant', 'readonly'}
      pass_time (class{1}, 'derivative', memory{1}, u, @(u) D (u, 1, 'Coefficients', memory{1}), copy);
    end
    clear u
    for side = sides
      u = array (side, side);
      copy = pass_time (class{1}, 'copy', '', u, @(u) u + 0, NaN);
      for taps = 3:2:15
        F = cast (rand (taps), class{1});
        pass_time (class{1}, 'convolution', sprintf ('%dx%d', taps, taps), u, @(u) C (u, F), copy);
      end
      clear u
    end
    for edge = edges
      u = array (edge, edge, edge);
      copy = pass_time (class{1}, 'copy', '', u, @(u) u + 0, NaN);
      for taps = 3:2:7
        F = cast (rand (taps, taps, taps), class{1});
        pass_time (class{1}, 'convolution', sprintf ('%dx%dx%d', taps, taps, taps), u, @(u) C (u, F), copy);
      end
      clear u
    end
  end
end
