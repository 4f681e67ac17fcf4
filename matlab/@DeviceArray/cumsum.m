function v = cumsum (u, dim)
%cumsum  Running sums.
%
%   V = cumsum (U)       along the first dimension that is not 1
%   V = cumsum (U, DIM)
%
%   V is of U's class; of truth values and integers it is double.
%   The order depends on the number of elements alone, with the same bits on
%   each device.
%
%   Example
%     gather (cumsum (DeviceArray ([1 2 3])))  % 1 3 6
%
%   See also DeviceArray, cumprod, sum, prod.

  if nargin < 2
    dim = -1;
  else
    dim = alongOne (dim, 'cumsum');
  end
  v = DeviceArray_CUDA ('cumsum', u, dim);
end
