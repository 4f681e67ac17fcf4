## Compiles the shim against this machine's MPI, if there is one: no two MPIs
## have the same binary interface. pkg calls this at the end of an installation.

function post_install (description)
  mpicc = getenv ("MPICC");
  if (isempty (mpicc))
    mpicc = "mpicc";
  endif
  ## Debian has an mpicc without its headers.
  if (system (["echo '#include <mpi.h>' | " mpicc " -x c -E - >/dev/null 2>&1"]) != 0)
    return;
  endif
  quoted = @(name) ["'" strrep(fullfile (description.dir, name), "'", "'\\''") "'"];
  [status, out] = system ([mpicc " -O2 -fPIC -shared -fvisibility=hidden -o " quoted("libstencil_mpi.so") " " ...
                           quoted("libstencil_mpi.c") " 2>&1"]);
  if (status != 0)
    warning ("stencil-mex:mpi", "stencil-mex: there will be no ranks, since %s refuses libstencil_mpi.c: %s", mpicc, out);
  endif
endfunction
