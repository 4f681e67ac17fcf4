% Microseconds of a sweep: RUN (M) does M of them in one call, which returns an array that may lie on the device. A sample
% is so many that they take about 50 ms, and one wait: an element of the result is read. The best of five counts.
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
