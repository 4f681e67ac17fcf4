## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} has_mpicc ()
## True if @command{mpicc} compiles here.
## @end deftypefn

function yes = has_mpicc ()
  persistent known = [];
  if (isempty (known))
    known = system ("printf '#include <mpi.h>' | mpicc -x c -fsyntax-only - >/dev/null 2>&1") == 0;
  endif
  yes = known;
endfunction
