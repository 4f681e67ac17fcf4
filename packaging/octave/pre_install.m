## Takes the binaries of this machine's architecture, and refuses machines that cannot load them. pkg calls this in the
## package's own folder, before it installs anything.

function pre_install (~)
  machine = computer ("arch");
  architecture = regexprep (machine, '^gnu-linux-', "");
  if (! any (strcmp (architecture, {"x86_64", "aarch64"})))
    error ("stencil-mex:platform", ...
           "stencil-mex is built for Linux on x86-64 and aarch64 with glibc, and this is %s", machine);
  endif
  [done, reason] = copyfile (fullfile (architecture, "*"), "inst");
  if (! done)
    error ("stencil-mex:platform", "stencil-mex: this archive has no binaries for %s: %s", machine, reason);
  endif
endfunction
