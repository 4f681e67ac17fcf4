## -*- texinfo -*-
## @deftypefn {} {@var{stamp} =} interrupt_me (@var{delay}, @var{more}, @var{in_run})
## Sends SIGINT, the signal of Ctrl-C, to this process after @var{delay} seconds, and @var{more} times again, 2 ms
## apart.  Returns immediately.  With @var{in_run} the delay begins with the next run of the library that has a thread
## of its own. @code{took (@var{stamp})} then returns the time since the first was sent.
## @end deftypefn

function stamp = interrupt_me (delay, more = 0, in_run = false)
  stamp = tempname ();
  kill = sprintf ("kill -INT %d", getpid ());
  code = sprintf ("sleep %g; date +%%s.%%N > %s.new; mv %s.new %s; %s", delay, stamp, stamp, stamp, kill);
  if (in_run)
    threads = sprintf ("cat /proc/%d/task/*/comm 2>/dev/null | grep -cx stencil", getpid ());
    [~, before] = system (threads);
    code = sprintf ("until [ $(%s) -gt %d ]; do sleep 0.01; done; %s", threads, str2double (before), code);
  endif
  system (["(" code repmat(["; sleep 0.002; " kill], 1, more) ") >/dev/null 2>&1 &"]);
endfunction
