% Microseconds of a sweep. RUN (M) does M sweeps in one call and returns an array, which may lie on the device. A sample
% is one call, of as many sweeps as take about LEAST seconds (0.05); it reads an element of the result to wait for the
% device. The best of five samples counts.
function us = sweep_time (run, least)
  if (nargin < 2), least = 0.05; end
  m = 4;
  once (run, m);  % kernels are compiled
  seconds = once (run, m);
  while (seconds < least)
    m = ceil (m * min (16, max (2, 1.4 * least / seconds)));
    seconds = once (run, m);
  end
  for i = 1:4
    seconds = min (seconds, once (run, m));
  end
  us = 1e6 * seconds / m;
end

function seconds = once (run, m)
  watch = tic ();
  result = run (m);
  result(1);
  seconds = toc (watch);
end
