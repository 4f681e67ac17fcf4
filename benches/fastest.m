% 'Backend', 'fastest' beside both engines, from Octave's prompt, as lines of CSV:
%   fastest,WHAT,SIZE,FILTER,SWEEPS,CPU,CUDA,FASTEST,RATIO,FIRST,PENALTY,LAST,CPU_TOLD,CUDA_TOLD,AGAIN
% Times are in ms, the best of some samples after calls that do not count: one of each engine, and of 'fastest' as many
% as it tries engines in. Samples of the three take turns, another one first in each, ten of them where all take less
% than 20 ms together, else three; a sample is the mean of as many calls as take about 2 ms, after one that does not
% count, since an engine's threads and caches are cold after a call of the other. RATIO is what 'fastest' takes, of the better of the two. FIRST
% is what it chose in its first call, by the guess alone, PENALTY the time of that engine, of the better one's, LAST
% what it chose after all, CPU_TOLD and CUDA_TOLD are the guesses. AGAIN is RATIO for that engine, named once
% more: what the machine does to the same call. An engine that is guessed to take more than
% two seconds is left out (NaN), and counted.
%
% fastest ()             in 100 seconds: what there is no time for is left out, and counted
% fastest (SECONDS, LARGEST)  in so many, with lines of no more than LARGEST points and images of no more elements
function fastest (seconds, largest)
  if (nargin < 1)
    seconds = 100;
  end
  if (nargin < 2)
    largest = 1e8;
  end
  begin = tic ();
  root = fullfile (fileparts (mfilename ("fullpath")), "..", "matlab");
  if (! exist ("ConstantMemoryDevice_CUDA", "file"))
    addpath (root);
  end
  info = ConstantMemoryDevice_CUDA ();
  printf ("# octave %s, %s, %d threads, %s, driver %s\n", version (), info.SIMD, info.Threads, info.Name, ...
          info.KernelDriver);
  printf ("# version %s, build %s\n", info.Version, info.Build);
  % The library's messages on standard error go to a file.
  s.log = tempname ();
  file = fopen (s.log, "w");
  dup2 (file, stderr);
  s.skipped = 0;
  s.rows = zeros (0, 3);
  s.names = {};
  s.cuda = info.DeviceSupported;
  printf ("fastest,what,size,filter,sweeps,cpu,cuda,fastest,ratio,first,penalty,last,cpu_told,cuda_told,again\n");
  for step = 3:8
    n = 10 ^ step;
    if (n <= largest)
      x = rand (1, n);
      for sweeps = [1 10 200]
        for taps = [3 9 21]
          f = @(b) StencilConstantMemory_CUDA (x, ones (1, taps) / taps, "Iterations", sweeps, "Backend", b);
          s = row (s, f, "line", n, taps, sweeps, toc (begin) > seconds);
        end
      end
      x = [];
    end
    side = [0 256 512 1024 4096 8192](step - 2);
    if (side > 0 && side ^ 2 <= largest)
      x = rand (side);
      for sweeps = [1 10 200]
        for size = [3 7 15]
          k = ones (size) / size ^ 2;
          f = @(b) ConvolutionConstantMemory_CUDA (x, k, "Iterations", sweeps, "Backend", b);
          s = row (s, f, "image", side, size, sweeps, toc (begin) > seconds);
        end
      end
      x = [];
    end
  end
  for i = 1:3
    ratios = s.rows(:,i);
    words = {"fastest, of the better engine", "its first choice, of the better one", ...
             "what it chose, named once more, of the better engine"}{i};
    [worst, at] = max (ratios);
    printf ("# %s: worst %.3f (%s), over 1.1: %d of %d\n", words, worst, s.names{at}, sum (ratios > 1.1), ...
            numel (ratios));
  end
  printf ("# left out: %d; %.0f s\n", s.skipped, toc (begin));
  fclose (file);
  delete (s.log);
end

% One row of the table.
function s = row (s, f, what, size, filter, sweeps, late)
  if (late)
    s.skipped += 3;
    return;
  end
  [first, told] = traced (s, f);
  % The last is the engine that was chosen.
  names = {"cpu", "cuda", "fastest", first};
  left_out = [told > 2, false, false];
  left_out(2) = left_out(2) || ! s.cuda;
  s.skipped += sum (left_out);
  times = Inf (1, 4);
  [calls, slow] = deal (zeros (1, 4));
  results = {};
  round = 0;
  while (round <= 3 || (round <= 10 && sum (times(! isinf (times))) < 0.02))
    for i = circshift (find (! left_out), round, 2)
      count = max (calls(i), 1);
      if (round == 0 && i == 3 && sum (told) < 0.1)
        count = 7;
      end
      % Seconds are long enough to be measured once.
      if (round == 0 || ! slow(i))
        if (round > 0)
          f (names{i});
        end
        t = tic ();
        for c = 1:count
          y = f (names{i});
        end
        t = toc (t) / count;
        if (round == 0 && numel (y) <= 1e6)
          results{end+1} = y;
        end
        y = [];
        if (round == 0)
          calls(i) = max (1, min (100, ceil (2e-3 / t)));
          slow(i) = t > 0.3;
        end
        if (round > 0 || slow(i))
          times(i) = min (times(i), t);
        end
      end
    end
    if (++round == 1)
      names{4} = traced (s, f);
    end
  end
  if (numel (results) > 1 && ! isequal (results{:}))
    error ("fastest: the engines differ: %s of %d by %d, %d sweeps", what, size, filter, sweeps);
  end
  last = traced (s, f);
  times(isinf (times)) = NaN;
  better = min (times(1:2));
  ratio = times(3) / better;
  again = times(4) / better;
  at = find (strcmp (first, names(1:2)));
  penalty = times(at) / better;
  if (isnan (penalty))
    penalty = told(at) / better;
  end
  s.rows(end+1,:) = [ratio, penalty, again];
  s.names{end+1} = sprintf ("%s,%d,%d,%d", what, size, filter, sweeps);
  printf ("fastest,%s,%d,%d,%d,%.4g,%.4g,%.4g,%.3f,%s,%.3f,%s,%.4g,%.4g,%.3f\n", what, size, filter, sweeps, ...
          1e3 * times(1:3), ratio, first, penalty, last, 1e3 * told, again);
  fflush (stdout);
end

% Returns the engine that a call chooses, and both times that it traces, in
% seconds.
function [choice, told] = traced (s, f)
  file = fopen (s.log, "r");
  fseek (file, 0, SEEK_END);
  setenv ("STENCIL_TRACE", "1");
  y = f ("fastest");
  unsetenv ("STENCIL_TRACE");
  text = fread (file, [1 Inf], "char=>char");
  fclose (file);
  choice = regexp (text, 'fastest: (\w+)', "tokens", "once"){1};
  % If no times are traced, both are short.
  told = [0 0];
  found = regexp (text, 'cpu ([\d.]+) ms \(\w+\) and cuda ([\d.]+) ms ', "tokens", "once");
  if (! isempty (found))
    told = 1e-3 * str2double (found);
  end
end
