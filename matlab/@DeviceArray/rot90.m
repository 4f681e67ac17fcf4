function v = rot90 (u, k)
%rot90  A matrix turned by quarters, against the clock.
%
%   V = rot90 (U)     by one
%   V = rot90 (U, K)
%
%   Example
%     gather (rot90 (DeviceArray ([1 2; 3 4])))  % 2 4; 1 3
%
%   See also DeviceArray, flip, permute.

  if nargin < 2
    k = 1;
  end
  ordinary ('rot90', k);
  v = DeviceArray_CUDA ('rot90', u, k);
end
