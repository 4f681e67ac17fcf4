% Many sweeps in one call, from Octave's prompt, as lines of CSV:
%   NAME,PLACE,CLASS,FILTER,BOUNDARY,SIZE,SWEEPS,RATE
% RATE is in 10^9 updates of a point a second: the best of three calls after one that does not count. PLACE is "device"
% for arrays that stay there (one element comes back when all is done), "host" for calls from an ordinary array to a new
% one. There Octave's own FILTER, CONV and CONV2 are timed for one sweep. A star is a filter that is zero beside its middle
% row and column.
%
% sweeps ()                 the backend that a call without options uses
% sweeps (BACKEND, QUICK)   'auto', 'cuda' or 'cpu'; with QUICK true small arrays, to see that it works
function sweeps (backend, quick)
  if (nargin < 1), backend = 'auto'; end
  if (nargin < 2), quick = false; end
  find_functions ();
  s = struct ('line', 2 ^ 26, 'lines', 10 .^ (3:7), 'image', 8192, 'images', [64 256 512 1024 2048 4096], ...
              'volume', 512, 'count', 200, 'many', 1000, 'host', 1e7, 'backend', backend);
  if (quick)
    s = struct ('line', 2 ^ 12, 'lines', [100 1000], 'image', 48, 'images', [16 32], 'volume', 16, 'count', 4, ...
                'many', 10, 'host', 1e4, 'backend', backend);
  end
  printf ('name,place,class,filter,boundary,size,sweeps,rate\n');
  lines_on_device (s);
  for class = {'double', 'single'}
    images_on_device (s, class{1});
    volumes_on_device (s, class{1});
  end
  from_host (s);
end

function lines_on_device (s)
  class = 'double';
  x = DeviceArray (rand (s.line, 1), 'Backend', s.backend);
  for taps = 3:2:21
    on_device (x, class, {ones(taps, 1) / taps}, 0, s.count);
  end
  for boundary = {'circular', 'replicate', 'symmetric', 'mirror'}
    on_device (x, class, {ones(3, 1) / 3}, boundary{1}, s.count);
  end
  for n = s.lines
    x = DeviceArray (rand (n, 1), 'Backend', s.backend);
    for taps = [3 21]
      on_device (x, class, {ones(taps, 1) / taps}, 0, s.many);
    end
  end
end

function images_on_device (s, class)
  x = DeviceArray (rand (s.image, class), 'Backend', s.backend);
  for taps = [3 5 7]
    for boundary = {0, 'circular', 'replicate', 'symmetric', 'mirror'}
      on_device (x, class, ones (taps, class) / taps ^ 2, boundary{1}, s.count);
    end
    k = zeros (taps, class);
    k((taps + 1) / 2,:) = k(:,(taps + 1) / 2) = 1 / (2 * taps - 1);
    for boundary = {0, 'circular'}
      on_device (x, class, k, boundary{1}, s.count);
    end
  end
  for sides = [3 5; 5 3; 3 7; 7 3; 5 7; 7 5; 1 7; 7 1]'
    on_device (x, class, ones (sides', class) / prod (sides), 0, s.count);
  end
  clear x
  for side = s.images
    x = DeviceArray (rand (side, class), 'Backend', s.backend);
    for taps = [3 5 7]
      on_device (x, class, ones (taps, class) / taps ^ 2, 0, 2 * s.count);
    end
    clear x
  end
end

function volumes_on_device (s, class)
  m = s.volume;
  x = DeviceArray (reshape (rand (m, m ^ 2, class), m, m, m), 'Backend', s.backend);
  for boundary = {0, 'circular', 'replicate', 'symmetric'}
    on_device (x, class, ones (3, 3, 3, class) / 27, boundary{1}, s.count);
  end
  for sides = [1 3 3; 3 1 3]'
    on_device (x, class, ones (sides', class) / prod (sides), 0, s.count);
  end
end

% The filter is a cell for the stencil, which runs along the first dimension, and an array for the convolution.
function on_device (x, class, k, boundary, count)
  if (iscell (k))
    call = @() StencilConstantMemory_CUDA (x, k{1}, 'Boundary', boundary, 'Iterations', count);
    k = k{1};
  else
    call = @() ConvolutionConstantMemory_CUDA (x, k, 'Boundary', boundary, 'Iterations', count);
    if (any (k(:) == 0))
      class = ['star ' class];
    end
  end
  seconds = best (call);
  row ('ours', 'device', class, k, boundary, size (x), count, numel (x) * count / seconds);
end

function from_host (s)
  engines = {'cpu'};
  if (! strcmp (s.backend, 'cpu') && ConstantMemoryDevice_CUDA ().DeviceSupported)
    engines{end+1} = 'cuda';
  end
  x = rand (s.host, 1);
  for taps = [3 5 9 21]
    k = ones (taps, 1) / taps;
    for engine = engines
      seconds = best (@() StencilConstantMemory_CUDA (x, k, 'Iterations', s.many, 'Backend', engine{1}));
      row (['ours ' engine{1}], 'host', 'double', k, 0, size (x), s.many, numel (x) * s.many / seconds);
    end
    row ('filter', 'host', 'double', k, 0, size (x), 1, numel (x) / best (@() filter (k, 1, x)));
    row ('conv', 'host', 'double', k, 0, size (x), 1, numel (x) / best (@() conv (x, k, 'same')));
  end
  x = rand (s.image / 2);
  for taps = [3 7]
    k = ones (taps) / taps ^ 2;
    for engine = engines
      seconds = best (@() ConvolutionConstantMemory_CUDA (x, k, 'Iterations', s.count, 'Backend', engine{1}));
      row (['ours ' engine{1}], 'host', 'double', k, 0, size (x), s.count, numel (x) * s.count / seconds);
    end
    row ('conv2', 'host', 'double', k, 0, size (x), 1, numel (x) / best (@() conv2 (x, k, 'same')));
  end
end

function seconds = best (call)
  once (call);
  seconds = min ([once(call), once(call), once(call)]);
end

function seconds = once (call)
  watch = tic ();
  y = call ();
  y(1);
  seconds = toc (watch);
end

function row (name, place, class, k, boundary, sizes, count, rate)
  % A line and its filter have one number, an image's filter of one column two.
  line = numel (sizes) == 2 && sizes(2) == 1;
  times = @(sizes) strjoin (arrayfun (@(d) sprintf ('%d', d), sizes(1:end - line), 'UniformOutput', false), 'x');
  printf ('%s,%s,%s,%s,%s,%s,%d,%.4g\n', name, place, class, times (size (k)), num2str (boundary), times (sizes), count, ...
          rate / 1e9);
  fflush (stdout);
end
