## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} has_ranks ()
## True if there is an @command{mpirun} of Open MPI here, and the library was
## built with MPI's shim.
## @end deftypefn

function yes = has_ranks ()
  persistent known = [];
  if (isempty (known))
    folder = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
    [status, out] = system ("mpirun --version 2>/dev/null");
    known = status == 0 && ! isempty (strfind (out, "Open MPI")) ...
            && exist (fullfile (folder, "libstencil_mpi.so"), "file") != 0;
  endif
  yes = known;
endfunction
