function varargout = refusal (caught)
%refusal  Returns a value that stands for an error caught in brackets.
%
%   Octave puts words of its own ("method failed") in the place of an error of
%   its brackets. So there a value has it, which raises it when it is
%   assigned: no name may get it before. Elsewhere it is raised here.

  if ~DeviceArray_CUDA ('native')
    rethrow (caught);
  end
  varargout = {DeviceArray_CUDA('refusal')};
end
