function r = any (u, varargin)
%any  Whether any element is not zero.
%
%   T = any (U)         along the first dimension that is not 1
%   T = any (U, DIM)    along DIM
%   T = any (U, DIMS)   along several, as along one
%   T = any (U, 'all')  over all elements
%
%   NaN counts for nothing. One truth value is an ordinary one.
%
%   Example
%     any (DeviceArray ([0 0 3]))  % true
%
%   See also DeviceArray, all, nnz.

  if nargin == 1
    r = DeviceArray_CUDA ('any', u, -1);
  else
    r = reduced ('any', u, varargin{:});
  end
end
