% One pass of filters that are longer or larger than those with kernels of their own, over arrays that stay on the device, as
% lines of CSV, as passes.m has them.
%
% large ()                 the backend that a call without options uses
% large (BACKEND, QUICK)   'auto', 'cuda' or 'cpu'; with QUICK true small arrays, to see that it works
function large (backend, quick)
  if (nargin < 1), backend = 'auto'; end
  if (nargin < 2), quick = false; end
  find_functions ();
  S = @StencilConstantMemory_CUDA;
  C = @ConvolutionConstantMemory_CUDA;
  [n, side, edge] = deal (1e7, 4096, 256);
  if (quick)
    [n, side, edge] = deal (9000, 48, 12);
  end
  printf ('name,class,function,filter,size,us,share\n');
  for class = {'double', 'single'}
    entries = @(varargin) rand (varargin{:}, class{1}) - 0.5;
    array = @(varargin) DeviceArray (entries (varargin{:}), 'Backend', backend);
    u = array (n, 1);
    copy = pass_time (class{1}, 'copy', '', u, @(u) u + 0, NaN);
    for taps = [3 21 63 255 1023 8191]
      k = entries (1, taps);
      pass_time (class{1}, 'stencil', sprintf ('%d', taps), u, @(u) S (u, k), copy);
    end
    u = array (side, side);
    copy = pass_time (class{1}, 'copy', '', u, @(u) u + 0, NaN);
    for taps = {[17 17] [31 31] [49 49] [64 64] [90 91] [63 1] [1 63]}
      F = entries (taps{1});
      pass_time (class{1}, 'convolution', sprintf ('%dx%d', taps{1}), u, @(u) C (u, F), copy);
    end
    u = array (edge, edge, edge);
    copy = pass_time (class{1}, 'copy', '', u, @(u) u + 0, NaN);
    for taps = [9 11 16]
      F = entries (taps, taps, taps);
      pass_time (class{1}, 'convolution', sprintf ('%dx%dx%d', taps, taps, taps), u, @(u) C (u, F), copy);
    end
    clear u
  end
end
