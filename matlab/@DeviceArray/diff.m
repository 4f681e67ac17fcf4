function v = diff (u, order, dim)
%diff  Differences of neighbours.
%
%   V = diff (U)              along the first dimension that is not 1
%   V = diff (U, ORDER)       so many times
%   V = diff (U, ORDER, DIM)
%
%   One difference is an ordinary number. An ORDER of as many elements as there
%   are, or more, leaves none: it does not go on along the next dimension.
%
%   Example
%     gather (diff (DeviceArray ([1 4 9])))  % 3 5
%
%   See also DeviceArray, cumsum, circshift.

  if nargin < 2 || isempty (order)
    order = 1;
  end
  if nargin < 3
    dim = -1;
  end
  ordinary ('diff', order, dim);
  v = DeviceArray_CUDA ('diff', u, order, dim);
end
