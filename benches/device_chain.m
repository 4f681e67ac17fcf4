% Work on arrays that stay on the device, from Octave's prompt, as lines of CSV with medians in ms:
%   chain,ours,WHAT,N,MS
% and, in lines that begin with #, what follows from them.
%
% device_chain ()                  the backend that a call without options uses, up to 10^8 elements
% device_chain (BACKEND, LARGEST)  'auto', 'cuda' or 'cpu', and other sizes: device_chain ('cpu', 1e6)
%
% A sample is as many runs back to back as take about 50 ms, and one wait for the device after the last: an element of
% its result is read. benches/device_chain.py does the same with CuPy and PyTorch. WHAT is
%   chain_device        ten different filters of 11 taps over doubles, one after the other, from a device's array to one
%   chain_host_to_host  the same between ordinary arrays, copied to the device once and back once
%   chain_host_calls    the same with ordinary arrays in every call, up to 10^7
%   chain_cpu_calls     the same on the processor
%   gray_scott_step, wave_step, life_step
%                       one step of GrayScott_Demo, WaveEquation_Demo, GameOfLife_Demo, N points in a square; in lines
%                       that say octave for ours, the same on ordinary arrays with CONV2
%   plus, scale, abs    u + v, u .* s, abs (u); plus in lines that say octave: of ordinary arrays
%   plus_small, stencil_small, new_small, read_small
%                       a + b, 11 taps, DeviceArray (x) that replaces the one before, and a(1), of 100 elements
function device_chain (backend, largest)
  if (nargin < 1)
    backend = 'auto';
  end
  if (nargin < 2)
    largest = 1e8;
  end
  find_functions ();
  info = ConstantMemoryDevice_CUDA ();
  probe = DeviceArray (1, 'Backend', backend);
  if (device (probe) == 0)
    backend = 'cpu';
    printf ('# octave %s, cpu, %d threads, %s\n', version (), info.Threads, info.SIMD);
  else
    backend = 'cuda';
    printf ('# octave %s, %s, driver %s\n', version (), info.Name, info.KernelDriver);
  end
  printf ('# version %s, build %s\n', info.Version, info.Build);
  clear probe

  s.backend = backend;
  s.taps = filters ();
  check (s);
  printf ('chain,name,what,n,ms\n');

  % The small ones first: the host's memory is not yet in disorder.
  s.x = rand (100, 1);
  s.u = DeviceArray (s.x, 'Backend', backend);
  s.v = DeviceArray (rand (100, 1), 'Backend', backend);
  for what = {'plus_small', 'stencil_small', 'new_small', 'read_small'}
    ms = measure (what{1}, 100, s);
    remark ('%s: %.2f us', what{1}, 1e3 * ms);
  end

  sizes = [1e3 1e4 1e5 1e6 1e7 1e8];
  for n = sizes(sizes <= largest)
    s.u = s.v = s.x = [];  % before the next ones are made: there may be no room for both
    s.x = rand (n, 1);
    s.u = DeviceArray (s.x, 'Backend', backend);
    ms = measure ('chain_device', n, s);
    remark ('chain_device, n = %g: %.1f G elements filtered a second', n, 10 * n / ms / 1e6);
    if (n <= 1e7)
      measure ('chain_host_calls', n, s);
      measure ('chain_cpu_calls', n, s);
      measure ('plus_octave', n, s);
    end
    s.v = DeviceArray (rand (n, 1), 'Backend', backend);
    ms = measure ('plus', n, s);
    remark ('plus, n = %g: %.0f GB moved a second', n, 24 * n / ms / 1e6);
    if (n >= min (1e7, largest))
      measure ('chain_host_to_host', n, s);
      ms = measure ('scale', n, s);
      remark ('scale, n = %g: %.0f GB moved a second', n, 16 * n / ms / 1e6);
      ms = measure ('abs', n, s);
      remark ('abs, n = %g: %.0f GB moved a second', n, 16 * n / ms / 1e6);
    end
  end

  side = min (2048, floor (sqrt (largest)));
  s.x = [];
  field = rand (side);
  starts = struct ('gray_scott_step', {{1 - 0.5 * rand(side), 0.25 * rand(side), []}}, ...
                   'wave_step', {{field, field, double(field > 0.1)}}, 'life_step', {{double(field < 0.4), [], []}});
  for what = {'gray_scott_step', 'wave_step', 'life_step'}
    fields = starts.(what{1});
    [s.u, s.v, s.open] = fields{:};
    measure ([what{1} '_octave'], side ^ 2, s);
    fields = cellfun (@(x) DeviceArray (x, 'Backend', backend), fields, 'UniformOutput', false);
    [s.u, s.v, s.open] = fields{:};
    ms = measure (what{1}, side ^ 2, s);
    remark ('%s, %d x %d: %.0f steps a second', what{1}, side, side, 1e3 / ms);
  end
end

% Prints the conclusion from a measurement, unless that failed.
function remark (varargin)
  if (any (cellfun (@(value) any (isnan (value)), varargin(2:end))))
    return
  end
  printf (['# ' varargin{1} "\n"], varargin{2:end});
  fflush (stdout);
end

% Median of the samples, in ms, as a line.
function ms = measure (what, n, s)
  try
    runs (what, 1, s);  % what is made once, and memory that is taken for the first time
    count = 1;
    t = runs (what, 1, s);
    while (t < 0.04)
      count = max (2 * count, ceil (min (10, 0.05 / t) * count));
      t = runs (what, count, s);
    end
    samples = zeros (1, 5 + 10 * (t < 0.5));
    for k = 1:numel (samples)
      samples(k) = runs (what, count, s) / count;
    end
    ms = 1e3 * median (samples);
    whose = 'ours';
    name = what;
    if (numel (what) > 7 && strcmp (what(end-6:end), '_octave'))
      whose = 'octave';
      name = what(1:end-7);
    end
    printf ('chain,%s,%s,%d,%.6f\n', whose, name, n, ms);
  catch failure
    ms = NaN;
    printf ('# failed: %s, n = %d: %s\n', what, n, strrep (failure.message, "\n", ' '));
  end
  fflush (stdout);
end

% Seconds of this number of runs. A loop for each, as in a script: a function
% handle would add to every run.
function t = runs (what, count, s)
  u = s.u;
  v = s.v;
  x = s.x;
  taps = s.taps;
  backend = s.backend;
  start = tic ();
  switch (what)
    case 'chain_device'
      for i = 1:count
        y = chain (u, taps);
      end
    case 'chain_host_to_host'
      for i = 1:count
        y = gather (chain (DeviceArray (x, 'Backend', backend), taps));
      end
    case {'chain_host_calls', 'chain_cpu_calls'}
      if (strcmp (what, 'chain_cpu_calls')), backend = 'cpu'; end
      for i = 1:count
        y = StencilConstantMemory_CUDA (x, taps{1}, 'Backend', backend);
        for k = 2:numel (taps)
          y = StencilConstantMemory_CUDA (y, taps{k}, 'Backend', backend);
        end
      end
    case 'gray_scott_step'
      y = u;
      for i = 1:count
        [y, v] = react (y, v, @image_of);
      end
    case 'gray_scott_step_octave'
      y = u;
      for i = 1:count
        [y, v] = react (y, v, @plain_image_of);
      end
    case 'wave_step'
      y = u;
      for i = 1:count
        [y, v] = leap (y, v, s.open, @image_of);
      end
    case 'wave_step_octave'
      y = u;
      for i = 1:count
        [y, v] = leap (y, v, s.open, @plain_image_of);
      end
    case 'life_step'
      y = u;
      for i = 1:count
        y = live (y, @image_of);
      end
    case 'life_step_octave'
      y = u;
      for i = 1:count
        y = double (live (y, @plain_image_of));
      end
    case {'plus', 'plus_small'}
      for i = 1:count
        y = u + v;
      end
    case 'plus_octave'
      for i = 1:count
        y = x + x;
      end
    case 'scale'
      for i = 1:count
        y = u .* 1.25;
      end
    case 'abs'
      for i = 1:count
        y = abs (u);
      end
    case 'stencil_small'
      k = taps{1};
      for i = 1:count
        y = StencilConstantMemory_CUDA (u, k);
      end
    case 'new_small'
      for i = 1:count
        y = DeviceArray (x, 'Backend', backend);
      end
    case 'read_small'
      y = u;
      for i = 1:count
        last = y(1);
      end
    otherwise
      error ('there is no %s here', what);
  end
  last = y(1);  % waits for the device
  t = toc (start);
end

function y = chain (y, taps)
  for k = 1:numel (taps)
    y = StencilConstantMemory_CUDA (y, taps{k});
  end
end

% Ten different filters, each with a sum of 1, which keeps the size of the
% numbers.
function taps = filters ()
  taps = cell (1, 10);
  for k = 1:numel (taps)
    bell = exp (-0.5 * ((-5:5) / (1 + 0.2 * k)) .^ 2) .* (1 + 0.02 * k * (-5:5));
    taps{k} = bell / sum (bell);
  end
end

% The steps of the demos; IMAGE_OF computes (U, TAPS, BOUNDARY).
function [u, v] = react (u, v, image_of)
  Du = 0.16;
  Dv = 0.08;
  F = 0.037;
  k = 0.06;
  taps = [1 4 1; 4 -20 4; 1 4 1] / 6;
  uvv = u .* v .* v;
  lu = image_of (u, taps, 'circular');
  lv = image_of (v, taps, 'circular');
  u = u + (Du * lu - uvv + F * (1 - u));
  v = v + (Dv * lv + uvv - (F + k) * v);
end

function [next, p] = leap (p, before, open, image_of)
  next = open .* image_of (p, [0 1 0; 1 4 1; 0 1 0] / 4, 'symmetric') - before;
end

function u = live (u, image_of)
  n = image_of (u, [1 1 1; 1 0 1; 1 1 1], 'circular');
  u = (n == 3) | (u & (n == 2));
end

function y = image_of (u, taps, boundary)
  y = ConvolutionConstantMemory_CUDA (u, taps, 'Boundary', boundary);
end

% As a user of Octave alone has it: the array with what is around it, and CONV2. The filters are the same turned round.
function y = plain_image_of (u, taps, boundary)
  if (strcmp (boundary, 'circular'))
    rows = [size(u, 1), 1:size(u, 1), 1];
    columns = [size(u, 2), 1:size(u, 2), 1];
  else
    rows = [1, 1:size(u, 1), size(u, 1)];
    columns = [1, 1:size(u, 2), size(u, 2)];
  end
  y = conv2 (u(rows,columns), taps, 'valid');
end

% Checks the timed results: the bits of ordinary calls, and those of CONV2 up to
% rounding.
function check (s)
  x = rand (1000, 1);
  y = gather (chain (DeviceArray (x, 'Backend', s.backend), s.taps));
  used = expected = x;
  for k = 1:numel (s.taps)
    used = StencilConstantMemory_CUDA (used, s.taps{k}, 'Backend', s.backend);
    expected = conv2 (expected, flipud (s.taps{k}(:)), 'same');
  end
  if (! isequal (y, used) || max (abs (y - expected)) > 1e-13)
    error ('the chain is wrong');
  end
  p = rand (20, 30);
  q = rand (20, 30);
  held = @(x) DeviceArray (x, 'Backend', s.backend);
  near = @(a, b) max (abs (gather (a)(:) - double (b)(:))) <= 1e-13;
  [a, b] = react (held (p), held (q), @image_of);
  [c, d] = react (p, q, @plain_image_of);
  cells = double (p < 0.4);
  if (! near (a, c) || ! near (b, d) || ! near (leap (held (p), held (q), held (cells), @image_of), ...
                                                leap (p, q, cells, @plain_image_of)) ...
      || ! near (live (held (cells), @image_of), live (cells, @plain_image_of)))
    error ('a step is wrong');
  end
end
