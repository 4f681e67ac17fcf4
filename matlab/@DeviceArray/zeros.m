function u = zeros (varargin)
%zeros  Array of zeros on the device.
%
%   U = DeviceArray.zeros (N)
%   U = DeviceArray.zeros (M, N, ...)
%   U = DeviceArray.zeros ([M N ...])
%   U = DeviceArray.zeros (..., CLASS, NAME, VALUE, ...)
%   U = zeros (..., 'like', V)
%
%   CLASS is 'double' (the default) or 'single'; the options are those of
%   DeviceArray. 'like' takes the class of V and the place where it lies.
%
%   Example
%     u = DeviceArray.zeros (2, 3, 'single');
%     v = zeros (size (u), 'like', u);
%
%   See also DeviceArray.

  u = filled (0, varargin{:});
end
