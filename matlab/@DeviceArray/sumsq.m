function r = sumsq (u, varargin)
%sumsq  Sums of squares.
%
%   S = sumsq (U)         along the first dimension that is not 1
%   S = sumsq (U, DIM)    along DIM
%   S = sumsq (U, 'all')  over all elements
%
%   One sum is an ordinary number.
%
%   Example
%     sumsq (DeviceArray ([3 4]))  % 25
%
%   See also DeviceArray, sum, norm.

  dim = -1;
  if nargin > 1
    dim = along (varargin{:});
  end
  r = DeviceArray_CUDA ('sumsq', u, dim);
end
