## -*- texinfo -*-
## @deftypefn {} {@var{folder} =} installed ()
## The folder below which the package is installed: one of this process's own.
## @end deftypefn

function folder = installed ()
  persistent own = "";
  if (isempty (own))
    own = tempname ();
    mkdir (own);
  endif
  folder = own;
endfunction
