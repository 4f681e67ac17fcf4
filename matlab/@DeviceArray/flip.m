function v = flip (u, dim)
%flip  The other way round along a dimension.
%
%   V = flip (U)       along the first dimension that is not 1
%   V = flip (U, DIM)
%
%   Example
%     gather (flip (DeviceArray ([1 2 3])))  % 3 2 1
%
%   See also DeviceArray, rot90, circshift.

  if nargin < 2
    dim = -1;
  elseif isnumeric (dim) && ~(dim >= 1)
    error ('DeviceArray:dimension', 'flip: the dimension must be a whole number from 1 up.');
  end
  ordinary ('flip', dim);
  v = DeviceArray_CUDA ('flip', u, dim);
end
