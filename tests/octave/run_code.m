## -*- texinfo -*-
## @deftypefn {} {@var{value} =} run_code (@var{code}, @var{a}, @var{b})
## What the code of @code{random_code} makes of two arrays: of @code{x}, a copy of @var{a}, where it assigns to that.
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
