% US = pass_time (CLASS, WHAT, FILTER, U, CALL, COPY)
%
% Measures CALL (U) in a row of calls, prints a line of passes.m's CSV, and returns the microseconds of a call. COPY are those
% of a copy of U.
function us = pass_time (class, what, filter, u, call, copy)
  least = 0.05;
  if (numel (u) < 1e4)
    least = 0.001;  % so small an array only shows that this works
  end
  us = sweep_time (@(m) again (call, u, m), least);
  sizes = strjoin (arrayfun (@(d) sprintf ('%d', d), size (u), 'UniformOutput', false), 'x');
  printf ('ours,%s,%s,%s,%s,%.4g,%.3f\n', class, what, filter, regexprep (sizes, 'x1$', ''), us, copy / us);
  fflush (stdout);
end

function last = again (call, u, m)
  for i = 1:m
    last = call (u);
  end
end
