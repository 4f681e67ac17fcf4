function forgetStep (step)
%forgetStep  Gives up a step, if there is one.

  if ~isempty (step)
    try
      DeviceArray_CUDA ('forget', step);
    catch
      % Only where the function is no longer on the path: nothing to free then.
    end
  end
end
