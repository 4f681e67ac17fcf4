% Calls from the prompt's side, as lines of CSV: medians in microseconds, of StencilConstantMemory_CUDA on each backend and of Octave's own.
function calls ()
  here = fileparts (mfilename ("fullpath"));
  addpath (fullfile (here, "..", "matlab"));
  info = ConstantMemoryDevice_CUDA ();
  printf ("octave %s, %s, %d threads, %s\n", version (), info.SIMD, info.Threads, info.Name);
  backends = {"cpu"};
  if (strcmp (info.Backend, "cuda"))
    backends{end+1} = "cuda";
  end
  printf ("call,name,taps,n,us\n");
  for taps = [5 11 21]
    k = rand (1, taps);
    for n = [20 1000 10000 1e5 1e6 1e7]
      x = rand (1, n);
      for i = 1:numel (backends)
        b = backends{i};
        report (b, taps, n, @() StencilConstantMemory_CUDA (x, k, "Backend", b));
      end
      report ("filter", taps, n, @() filter (k, 1, x));
      report ("conv", taps, n, @() conv (x, k, "same"));
    end
  end
end

function report (name, taps, n, f)
  f ();
  % Many calls a sample where one is shorter than the clock is good for.
  inner = max (1, round (2e4 / n));
  samples = zeros (1, max (5, min (51, round (2e7 / n))));
  for s = 1:numel (samples)
    t = tic ();
    for i = 1:inner
      f ();
    end
    samples(s) = toc (t) / inner;
  end
  printf ("call,%s,%d,%d,%.2f\n", name, taps, n, 1e6 * median (samples));
end
