function varargout = vertcat (varargin)
%vertcat  Arrays above each other.
%
%   W = [U; V; ...]
%   W = vertcat (U, V, ...)
%
%   Some of them may be ordinary arrays; W is on the device.
%
%   Example
%     gather ([DeviceArray(1); 2])  % 1; 2
%
%   See also DeviceArray, cat, horzcat.

  try
    varargout = {DeviceArray_CUDA('cat', 1, varargin{:})};
  catch caught
    if ~DeviceArray_CUDA ('native')
      rethrow (caught);
    end
    % Octave puts words of its own in the place of an error of brackets: a value has it, which raises it when it is
    % assigned. So no name here may get it.
    varargout = {DeviceArray_CUDA('refusal')};
  end
end
