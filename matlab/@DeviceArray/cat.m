function u = cat (dim, varargin)
%cat  Arrays joined along a dimension.
%
%   W = cat (DIM, U, V, ...)
%
%   Some of them may be ordinary arrays; W is on the device. Its class is the
%   host's: the first class of integers, else single where there is one.
%
%   Example
%     size (cat (3, DeviceArray ([1 2]), [3 4]))  % 1 2 2
%
%   See also DeviceArray, horzcat, vertcat.

  ordinary ('cat', dim);
  u = DeviceArray_CUDA ('cat', dim, varargin{:});
end
