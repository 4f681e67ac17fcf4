## -*- texinfo -*-
## @deftypefn {} {} address_limit (@var{mib})
## Limits this process to @var{mib} MiB of addresses above those that it had at
## the first call; @qcode{Inf} lifts the limit.
## @end deftypefn

function address_limit (mib)
  persistent base shell;
  if (isempty (base))
    base = 1024 * resident ("VmSize");
    ## At the limit no program can be started: this one is there already.
    shell = popen (sprintf ("while read n; do prlimit --pid %d --as=$n:; done", getpid ()), "w");
  endif
  bytes = "unlimited";
  if (isfinite (mib))
    bytes = sprintf ("%.0f", base + mib * 2^20);
  endif
  fprintf (shell, "%s\n", bytes);
  fflush (shell);
  done = false;
  while (! done)
    fid = -1;
    try
      fid = fopen ("/proc/self/limits");
      text = fread (fid, Inf, "char=>char").';
      done = strcmp (regexp (text, 'address space *(\w+)', "tokens", "once"){1}, bytes);
    catch
      ## There is so little left that a limit must stand; one that is to go has not gone yet.
      done = isfinite (mib);
    end_try_catch
    if (fid >= 0)
      fclose (fid);
    endif
  endwhile
endfunction
