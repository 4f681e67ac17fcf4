## -*- texinfo -*-
## @deftypefn {} {@var{file} =} helper (@var{stem})
## Returns the full name of the library libstencil_@var{stem} for this version
## of Octave, in the folder of the MEX files under test; empty if there is none.
## @qcode{"lend"} lends outputs, @qcode{"object"} makes objects.
## @end deftypefn

function file = helper (stem)
  folder = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
  file = fullfile (folder, ["libstencil_" stem "-" OCTAVE_VERSION ".so"]);
  if (! exist (file, "file"))
    file = "";
  endif
endfunction
