## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} has_sources ()
## True if the library's sources are in the parent of the folder with the MEX
## files, and the running Octave's @command{mkoctfile} is there to compile them
## with.
## @end deftypefn

function yes = has_sources ()
  folder = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
  yes = exist (fullfile (folder, "..", "src", "mex", "lend.cc"), "file") != 0;
  if (yes)
    [status, version] = system ("${MKOCTFILE:-mkoctfile} -p OCTAVE_VERSION 2>/dev/null");
    yes = status == 0 && strcmp (strtrim (version), OCTAVE_VERSION);
  endif
endfunction
