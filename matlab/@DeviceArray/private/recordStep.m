function [step, classes, kernels] = recordStep (f, states, constants)
  % Records a step: its number, the classes that it gives, and how many kernels it is.
  step = DeviceArray_CUDA ('record', states{1});
  try
    traced = cellfun (@(u) DeviceArray_CUDA ('argument', step, u), states, 'UniformOutput', false);
    results = cell (size (states));
    [results{:}] = f (traced{:}, constants{:});
    for i = 1:numel (results)
      if ~isa (results{i}, 'DeviceArray')
        results{i} = DeviceArray (results{i});
      end
      if ~isequal (size (results{i}), size (states{i}))
        error ('DeviceArray:trace', 'State %d changes its size in a step, from %s to %s: a step keeps the sizes.', i, ...
               sizeText (states{i}), sizeText (results{i}));
      end
    end
    classes = cellfun (@underlyingType, results, 'UniformOutput', false);
    kernels = DeviceArray_CUDA ('finish', step, results{:});
  catch caught
    DeviceArray_CUDA ('forget', step);
    rethrow (caught);
  end
end
