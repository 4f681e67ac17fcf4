## -*- texinfo -*-
## @deftypefn {} {@var{v} =} resident (@var{field})
## A figure of this process from /proc/self/status, by default its resident
## memory in KiB (VmRSS); NaN where there is no such file.
## @end deftypefn

function v = resident (field = "VmRSS")
  v = NaN;
  fid = fopen ("/proc/self/status");
  if (fid < 0)
    return;
  endif
  text = fread (fid, Inf, "char=>char").';
  fclose (fid);
  found = regexp (text, ['^' field ':\s*(\d+)'], "tokens", "once", "lineanchors");
  if (! isempty (found))
    v = str2double (found{1});
  endif
endfunction
