## -*- texinfo -*-
## @deftypefn {} {@var{text} =} exit_noise ()
## What Octave 7 itself may say as it ends.
## @end deftypefn

function text = exit_noise ()
  text = "error: ignoring const execution_exception& while preparing to exit\n";
endfunction
