function r = sumsq (u, varargin)
%sumsq  Sums of squares.
%
%   S = sumsq (U)         along the first dimension that is not 1
%   S = sumsq (U, DIM)    along DIM
%   S = sumsq (U, DIMS)   along several, as along one
%   S = sumsq (U, 'all')  over all elements
%
%   One sum is an ordinary number.
%
%   Example
%     sumsq (DeviceArray ([3 4]))  % 25
%
%   See also DeviceArray, sum, norm.

  if nargin == 1
    r = DeviceArray_CUDA ('sumsq', u, -1);
  else
    r = reduced ('sumsq', u, varargin{:});
  end
end
