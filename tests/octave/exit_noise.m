## -*- texinfo -*-
## @deftypefn {} {@var{text} =} exit_noise ()
## Returns the message that Octave 7 itself may print as it exits.
## @end deftypefn

function text = exit_noise ()
  text = "error: ignoring const execution_exception& while preparing to exit\n";
endfunction
