function u = ones (varargin)
%ones  Array of ones on the device.
%
%   U = DeviceArray.ones (N)
%   U = DeviceArray.ones (M, N, ...)
%   U = DeviceArray.ones ([M N ...])
%   U = DeviceArray.ones (..., CLASS, NAME, VALUE, ...)
%   U = ones (..., 'like', V)
%
%   CLASS is 'double' (the default) or 'single'; the options are those of
%   DeviceArray. 'like' takes the class of V and the place where it lies.
%
%   Example
%     u = DeviceArray.ones (2, 3, 'single');
%     v = ones (size (u), 'like', u);
%
%   See also DeviceArray.

  u = filled (1, varargin{:});
end
