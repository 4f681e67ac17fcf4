## -*- texinfo -*-
## @deftypefn {} {@var{folder} =} toolbox ()
## Copies the unpacked MATLAB toolbox, with its .mexa64 files renamed to .mex, so that Octave calls them.
## @end deftypefn

function folder = toolbox ()
  persistent own = "";
  if (isempty (own))
    own = tempname ();
    copyfile (glob (fullfile (getenv ("STENCIL_PACKAGES"), "stencil-mex-*", "toolbox")){1}(1:end-8), own);
    for file = glob (fullfile (own, "toolbox", "*.mexa64"))'
      rename (file{1}, strrep (file{1}, ".mexa64", ".mex"));
    endfor
  endif
  folder = own;
endfunction
