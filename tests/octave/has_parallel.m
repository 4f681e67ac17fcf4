## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} has_parallel ()
## True if the Octave under test has the package parallel.
## @end deftypefn

function yes = has_parallel ()
  persistent known = [];
  if (isempty (known))
    known = ! isempty (pkg ("list", "parallel"));
  endif
  yes = known;
endfunction
