function r = all (u, varargin)
%all  Whether no element is zero.
%
%   T = all (U)         along the first dimension that is not 1
%   T = all (U, DIM)    along DIM
%   T = all (U, DIMS)   along several, as along one
%   T = all (U, 'all')  over all elements
%
%   One truth value is an ordinary one.
%
%   Example
%     all (DeviceArray ([1 2 0]))  % false
%
%   See also DeviceArray, any, nnz.

  if nargin == 1
    r = DeviceArray_CUDA ('all', u, -1);
  else
    r = reduced ('all', u, varargin{:});
  end
end
