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
  else
    dim = alongOne (dim, 'flip');
  end
  v = DeviceArray_CUDA ('flip', u, dim);
end
