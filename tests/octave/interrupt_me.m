## -*- texinfo -*-
## @deftypefn {} {@var{stamp} =} interrupt_me (@var{delay}, @var{more})
## Has SIGINT, which is what Ctrl-C sends, sent to this process after @var{delay}
## seconds, and @var{more} times again, 2 ms apart.  Returns at once.
## @code{took (@var{stamp})} then tells how long ago the first was sent.
## @end deftypefn

function stamp = interrupt_me (delay, more = 0)
  stamp = tempname ();
  kill = sprintf ("kill -INT %d", getpid ());
  code = sprintf ("sleep %g; date +%%s.%%N > %s.new; mv %s.new %s; %s", delay, stamp, stamp, stamp, kill);
  system (["(" code repmat(["; sleep 0.002; " kill], 1, more) ") >/dev/null 2>&1 &"]);
endfunction
