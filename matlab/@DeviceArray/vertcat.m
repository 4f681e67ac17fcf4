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
    varargout = {DeviceArray_CUDA('vertcat', varargin{:})};
  catch caught
    varargout = {refusal(caught)};
  end
end
