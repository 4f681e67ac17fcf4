% Many sweeps in one call, from Octave's prompt, as lines of CSV: seconds, beside as many calls of Octave's own, of
% which a few are timed.
% sweeps (), or sweeps (n, count) for other than 1,000 sweeps of 10^7 points.
function sweeps (n, count)
  if (nargin < 1)
    n = 1e7;
  end
  if (nargin < 2)
    count = 1000;
  end
  addpath (fullfile (fileparts (mfilename ("fullpath")), "..", "matlab"));
  info = ConstantMemoryDevice_CUDA ();
  printf ("octave %s, %s, %d threads, %s\n", version (), info.SIMD, info.Threads, info.Name);
  backends = {"cpu"};
  if (strcmp (info.Backend, "cuda"))
    backends{end+1} = "cuda";
  end
  printf ("sweeps,name,taps,n,sweeps,seconds\n");
  for taps = [3 5 9 21]
    k = ones (1, taps) / taps;
    x = rand (1, n);
    for i = 1:numel (backends)
      f = @() StencilConstantMemory_CUDA (x, k, "Iterations", count, "Backend", backends{i});
      seconds = zeros (1, 4);
      for s = 1:numel (seconds)
        t = tic ();
        y = f ();
        seconds(s) = toc (t);
      end
      printf ("sweeps,ours %s,%d,%d,%d,%.4f\n", backends{i}, taps, n, count, median (seconds(2:end)));
    end
    own = {"filter", @() filter (k, 1, x); "conv", @() conv (x, k, "same")};
    for i = 1:rows (own)
      seconds = zeros (1, 4);
      for s = 1:numel (seconds)
        t = tic ();
        y = own{i,2} ();
        seconds(s) = toc (t);
      end
      printf ("sweeps,%s (times %d),%d,%d,%d,%.4f\n", own{i,1}, count, taps, n, count, count * median (seconds(2:end)));
    end
  end
end
