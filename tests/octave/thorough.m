## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} thorough ()
## Whether more than the selection of @code{make test} runs: loops that look for leaks are longer then.
## @end deftypefn

function yes = thorough ()
  yes = any (strcmp (getenv ("STENCIL_TESTS"), {"rest", "all"}));
endfunction
