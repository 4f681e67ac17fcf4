## Refuses machines that cannot load the library: pkg calls this before it installs anything.

function pre_install (~)
  machine = computer ("arch");
  if (! strcmp (machine, "gnu-linux-x86_64"))
    error ("stencil-mex:platform", ...
           "stencil-mex is built for Linux on x86-64 with glibc, and this is %s", machine);
  endif
endfunction
