function u = NaN (varargin)
%NaN  Array of NaN on the device.
%
%   U = DeviceArray.NaN (N)
%   U = DeviceArray.NaN (..., CLASS, NAME, VALUE, ...)
%   U = NaN (..., 'like', V)
%
%   Takes the inputs of zeros. CLASS is 'double' (the default) or 'single'.
%
%   Example
%     u = NaN (2, 3, 'like', DeviceArray (1));
%
%   See also DeviceArray, zeros, ones.

  u = filled (NaN, varargin{:});
end
