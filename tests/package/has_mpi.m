## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} has_mpi ()
## True if this machine has Open MPI, and a compiler of programs for it.
## @end deftypefn

function yes = has_mpi ()
  ## Debian has an mpicc without its headers.
  yes = system ("echo '#include <mpi.h>' | mpicc -x c -E - >/dev/null 2>&1") == 0 ...
        && system ("mpirun --version 2>/dev/null | grep -q 'Open MPI'") == 0;
endfunction
