## -*- texinfo -*-
## @deftypefn {} {@var{file} =} helper (@var{stem})
## The full name of the library libstencil_@var{stem} for this version of Octave,
## beside the MEX files that are tested; empty where there is none.
## @qcode{"lend"} lends outputs, @qcode{"object"} makes objects.
## @end deftypefn

function file = helper (stem)
  folder = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
  file = fullfile (folder, ["libstencil_" stem "-" OCTAVE_VERSION ".so"]);
  if (! exist (file, "file"))
    file = "";
  endif
endfunction
