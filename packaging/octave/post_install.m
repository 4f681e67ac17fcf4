## Compiles what fits this machine alone, where its compilers are: the shim for its MPI, since no two have the same binary
## interface, and the libraries for an Octave that the package has none for. pkg calls this in the package's own folder, at
## the end of an installation.

function post_install (description)
  build (description, "--mpi");
  helper = fullfile (description.dir, ["libstencil_object-" OCTAVE_VERSION ".so"]);
  if (! exist (helper, "file"))
    setenv ("MKOCTFILE", fullfile (__octave_config_info__ ("bindir"), "mkoctfile"));
    build (description, "--helpers");
  endif
  if (! exist (helper, "file"))
    printf (["stencil-mex has no library for Octave %s, so a DeviceArray is slower there, and false in conditions. " ...
             "Install mkoctfile (Debian and Ubuntu: octave-dev), then stencil-mex again.\n"], OCTAVE_VERSION);
  endif
endfunction

function build (description, what)
  folder = ["'" strrep(description.dir, "'", "'\\''") "'"];
  [~, out] = system (["sh source/matlab/build-mex " what " " folder " 2>&1"]);
  if (! isempty (out))
    warning ("stencil-mex:build", "%s", strtrim (out));
  endif
endfunction
