function t = logical (u)
%logical  Truth values: whether elements are not zero.
%
%   T = logical (U)
%
%   On the device. NaN is an error.
%
%   Example
%     gather (logical (DeviceArray ([2 0])))  % true false
%
%   See also DeviceArray, any, all.

  t = DeviceArray_CUDA ('convert', u, 'logical');
end
