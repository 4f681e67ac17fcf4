% Microseconds of a sweep. RUN (M) does M sweeps in one call and returns an array, which may lie on the device. A sample
% is one call, of as many sweeps as take about 50 ms; it reads an element of the result to wait for the device. The best
% of five samples counts.
function us = sweep_time (run)
  m = 4;
  once (run, m);  % kernels are compiled
  seconds = once (run, m);
  while (seconds < 0.05)
    m = ceil (m * min (16, max (2, 0.07 / seconds)));
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
