function shown = demoProgress (done, total, watch, shown)
%demoProgress  A line now and then that tells how far a long run of a demo is.
%
%   SHOWN = demoProgress (DONE, TOTAL, WATCH, SHOWN)
%
%   WATCH is what TIC returned when the run began, SHOWN what the call before
%   returned, 0 in the first. A line comes every two seconds, none in a short
%   run.

  seconds = toc (watch);
  if seconds - shown >= 2 && done < total
    fprintf ('  step %d of %d, %.0f s to go\n', done, total, seconds * (total / done - 1));
    if exist ('OCTAVE_VERSION', 'builtin') ~= 0
      fflush (stdout);
    end
    shown = seconds;
  end
end
