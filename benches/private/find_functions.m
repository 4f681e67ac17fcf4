% Adds the folder matlab/ of this clone to the path, unless built functions are there already: another build's, say.
function find_functions ()
  if (isempty (file_in_loadpath ('StencilConstantMemory_CUDA.mex')))
    addpath (fullfile (fileparts (mfilename ('fullpath')), '..', '..', 'matlab'));
  end
end
