function v = cumprod (u, dim)
%cumprod  Running products.
%
%   V = cumprod (U)       along the first dimension that is not 1
%   V = cumprod (U, DIM)
%
%   V is of U's class; of truth values and integers it is double.
%   The order depends on the number of elements alone, with the same bits on
%   each device.
%
%   Example
%     gather (cumprod (DeviceArray ([1 2 3])))  % 1 2 6
%
%   See also DeviceArray, cumsum, sum, prod.

  if nargin < 2
    dim = -1;
  else
    dim = alongOne (dim, 'cumprod');
  end
  v = DeviceArray_CUDA ('cumprod', u, dim);
end
