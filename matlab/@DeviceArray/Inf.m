function u = Inf (varargin)
%Inf  Array of Inf on the device.
%
%   U = DeviceArray.Inf (N)
%   U = DeviceArray.Inf (..., CLASS, NAME, VALUE, ...)
%   U = Inf (..., 'like', V)
%
%   Takes the inputs of zeros. CLASS is 'double' (the default) or 'single'.
%
%   Example
%     u = Inf (2, 3, 'like', DeviceArray (1));
%
%   See also DeviceArray, zeros, ones.

  u = filled (Inf, varargin{:});
end
