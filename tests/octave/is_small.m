## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} is_small ()
## True if cases are to be small: in the selection of @code{make test}, and always on the stand-in for the driver, which
## is a thousand times slower than a GPU.  @code{@{whole, small@}@{1 + is_small ()@}}
## @end deftypefn

function yes = is_small ()
  yes = ! any (strcmp (getenv ("STENCIL_TESTS"), {"rest", "all"})) || on_stand_in ();
endfunction
