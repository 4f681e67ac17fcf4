## -*- texinfo -*-
## @deftypefn {} {@var{seconds} =} took (@var{stamp})
## Returns the time since the interrupt of @code{interrupt_me} was sent.
## @end deftypefn

function seconds = took (stamp)
  now_is = time ();
  seconds = now_is - str2double (fileread (stamp));
  delete (stamp);
endfunction
