## -*- texinfo -*-
## @deftypefn {} {@var{file} =} maker ()
## The full name of the library that makes objects in this version of Octave,
## beside the MEX files that are tested; empty where there is none.
## @end deftypefn

function file = maker ()
  folder = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
  file = fullfile (folder, ["libstencil_object-" OCTAVE_VERSION ".so"]);
  if (! exist (file, "file"))
    file = "";
  endif
endfunction
