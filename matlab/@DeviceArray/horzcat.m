function varargout = horzcat (varargin)
%horzcat  Arrays beside each other.
%
%   W = [U, V, ...]
%   W = horzcat (U, V, ...)
%
%   Some of them may be ordinary arrays; W is on the device.
%
%   Example
%     gather ([DeviceArray([1 2]), 3])  % 1 2 3
%
%   See also DeviceArray, cat, vertcat.

  try
    varargout = {DeviceArray_CUDA('horzcat', varargin{:})};
  catch caught
    varargout = {refusal(caught)};
  end
end
