% One array of the host's on several GPUs, from Octave's prompt, as lines of CSV:
%   devices,WHAT,DEVICES,SECONDS,RATE,RATIO
% SECONDS is the least of several calls, in turns with those on one device; RATE is in updates a nanosecond, RATIO how
% many times as fast as on the first device alone.
%
% devices ()        all devices there are
% devices (LIST, N) these, counted from 1, and a tenth as many elements, say, with 0.1
function devices (list, scale)
  find_functions ();
  if (nargin < 1), list = 1:ConstantMemoryDevice_CUDA ().DeviceCount; end
  if (nargin < 2), scale = 1; end
  n = round (1e8 * scale);
  side = round (16384 * sqrt (scale));
  edge = round (640 * scale ^ (1 / 3));
  S = @StencilConstantMemory_CUDA;
  C = @ConvolutionConstantMemory_CUDA;
  k3 = [1 2 1] / 4;
  F = [1 2 1; 2 4 2; 1 2 1] / 16;
  V = ones (3, 3, 3) / 27;
  printf ('devices,what,devices,seconds,rate,ratio\n');
  x = rand (n, 1);
  report ('one pass of 3 taps', @(d) S (x, k3, 'Device', d), list, n, 9);
  report ('one pass of 11 taps', @(d) S (x, ones (1, 11) / 11, 'Device', d), list, n, 9);
  report ('3 taps, 20000 sweeps', @(d) S (x, k3, 'Iterations', 20000, 'Device', d), list, 20000 * n, 3);
  report ('3 taps circular, 20000 sweeps', ...
          @(d) S (x, k3, 'Iterations', 20000, 'Boundary', 'circular', 'Device', d), list, 20000 * n, 3);
  report ('11 taps, 2000 sweeps', @(d) S (x, ones (1, 11) / 11, 'Iterations', 2000, 'Device', d), list, 2000 * n, 3);
  x = rand (side, side);
  report ('3 x 3, 2000 sweeps', @(d) C (x, F, 'Iterations', 2000, 'Device', d), list, 2000 * side ^ 2, 3);
  report ('one pass of 3 x 3', @(d) C (x, F, 'Device', d), list, side ^ 2, 5);
  x = rand (edge, edge, edge);
  report ('3 x 3 x 3, 1000 sweeps', @(d) C (x, V, 'Iterations', 1000, 'Device', d), list, 1000 * edge ^ 3, 3);
end

function report (what, call, list, updates, times)
  best = [Inf Inf];
  same = true;
  for t = 1:times
    results = cell (1, 2);
    for i = 1:2
      which = list;
      if (i == 1), which = list(1); end
      id = tic ();
      y = call (which);
      best(i) = min (best(i), toc (id));
      results{i} = y(1:997:end);
    end
    same = same && isequaln (results{:});
  end
  if (! same), error ('devices: %s: the bits are not those of one device', what); end
  for i = 1:2
    count = [1 numel(list)](i);
    printf ('devices,%s,%d,%.4f,%.1f,%.2f\n', what, count, best(i), updates / best(i) / 1e9, best(1) / best(i));
  end
end
