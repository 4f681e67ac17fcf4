% bench_server (MEXFOLDER)  Takes orders from benches/bench.py on standard input, a line each, and answers on standard
% output.
%
%   says first:  info KEY TEXT, contender NAME, skipped NAME REASON, ..., ready
%   order:       measure NAME TAPS N, and an empty line: fgetl waits for what comes after a line's end
%   answer:      sample SECONDS CALLS   the mean of so many calls, one after the other
%                failed TEXT
%
% STENCIL_TRACE's lines about calls go to standard error, where bench.py finds
% them.
function bench_server (mexFolder)
  addpath (mexFolder);
  device = ConstantMemoryDevice_CUDA ();
  say ('info octave %s', version ());
  say ('info device %s', device.Name);
  say ('info driver %s', device.KernelDriver);
  say ('info backend %s', device.Backend);
  say ('info reason %s', device.BackendReason);
  say ('info simd %s', device.SIMD);
  say ('info threads %d', device.Threads);
  say ('info version %s', device.Version);
  say ('info build %s', device.Build);
  if (device.DeviceSupported)
    say ('contender ours_cuda');
  else
    say ('skipped ours_cuda %s', device.BackendReason);
  end
  say ('contender ours_cpu');
  say ('contender filter');
  say ('contender conv');
  say ('ready');
  while (ischar (order = fgetl (stdin)))
    words = strsplit (strtrim (order), ' ');
    if (numel (words) < 4)
      continue
    end
    try
      [seconds, calls] = measure (words{2}, str2double (words{3}), str2double (words{4}));
      say ('sample %.9g %d', seconds, calls);
    catch failure
      say ('failed %s', strrep (failure.message, "\n", ' '));
    end
  end
end

function say (varargin)
  printf ([varargin{1} "\n"], varargin{2:end});
  fflush (stdout);
end

function [seconds, calls] = measure (name, taps, n)
  persistent x k known
  if (isempty (known))
    known = struct ();
  end
  if (numel (x) != n || isempty (x))
    x = [];  % before the next one is made: there may be no room for both
    x = rand (1, n) - 0.5;
  end
  if (numel (k) != taps)
    k = rand (1, taps) - 0.5;
  end
  setting = sprintf ('%s_%d_%d', name, taps, n);
  ours = strncmp (name, 'ours', 4);
  if (! isfield (known, setting))
    [t, y] = timed (name, x, k, 1);
    check (name, x, k, y);
    y = [];
    calls = 1;
    if (t >= 0.5 && ! ours)
      % Octave's own functions have nothing to get ready: a first call as long as this is a sample.
      known.(setting) = 1;
      seconds = t;
      return
    end
    t = timed (name, x, k, 1);
    while (t < 2e-3)
      calls = max (2 * calls, ceil (min (10 * calls, 3e-3 / t * calls)));
      t = timed (name, x, k, calls);
    end
    known.(setting) = calls;
  end
  calls = known.(setting);
  if (calls > 1)
    % Others have used the caches since: one call brings data and code back.
    timed (name, x, k, 1);
  end
  if (ours && calls == 1)
    % A line on standard error takes no time compared with a call of
    % milliseconds.
    setenv ('STENCIL_TRACE', '1');
    seconds = timed (name, x, k, 1);
    unsetenv ('STENCIL_TRACE');
    return
  end
  seconds = timed (name, x, k, calls) / calls;
  if (ours)
    setenv ('STENCIL_TRACE', '1');
    timed (name, x, k, 5);
    unsetenv ('STENCIL_TRACE');
  end
end

% A loop for each, as a script would have it: a function handle would add to every call.
function [t, y] = timed (name, x, k, calls)
  flipped = fliplr (k);
  switch (name)
    case 'ours_cuda'
      start = tic ();
      for i = 1:calls
        y = StencilConstantMemory_CUDA (x, k, 'Backend', 'cuda');
      end
      t = toc (start);
    case 'ours_cpu'
      start = tic ();
      for i = 1:calls
        y = StencilConstantMemory_CUDA (x, k, 'Backend', 'cpu');
      end
      t = toc (start);
    case 'filter'
      start = tic ();
      for i = 1:calls
        y = filter (flipped, 1, x);
      end
      t = toc (start);
    case 'conv'
      start = tic ();
      for i = 1:calls
        y = conv (x, flipped, 'same');
      end
      t = toc (start);
    otherwise
      error ('there is no contender %s here', name);
  end
end

% Compares a few outputs with the expected sums: code that computes something
% else is no peer.
function check (name, x, k, y)
  n = numel (x);
  r = (numel (k) - 1) / 2;
  late = r * strcmp (name, 'filter');  % it has the same outputs, but so many places later
  places = unique ([1, ceil(n / 2), n]);
  for i = places(places + late <= n)
    near = max (1, i - r):min (n, i + r);
    expected = sum (x(near) .* k(near - i + r + 1));
    if (abs (y(i + late) - expected) > 1e-12)
      error ('output %d of %d is wrong', i, n);
    end
  end
end
