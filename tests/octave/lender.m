## -*- texinfo -*-
## @deftypefn {} {@var{file} =} lender ()
## The full name of the library that lends this version of Octave its outputs,
## beside the MEX files that are tested; empty where there is none.
## @end deftypefn

function file = lender ()
  folder = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
  file = fullfile (folder, ["libstencil_lend-" OCTAVE_VERSION ".so"]);
  if (! exist (file, "file"))
    file = "";
  endif
endfunction
