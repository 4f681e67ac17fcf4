## -*- texinfo -*-
## @deftypefn {} {@var{value} =} run_code (@var{code}, @var{a}, @var{b})
## Runs the code of @code{random_code} on two arrays: returns @code{x}, a copy of @var{a}, if the code assigns to that.
## @end deftypefn

function value = run_code (code, a, b)
  x = a;
  if (isempty (strfind (code, "x")))
    eval (["value = " code ";"]);
  else
    eval ([code ";"]);
    value = x;
  endif
endfunction
