function r = all (a, varargin)
%all  Whether no element is zero.
%
%   T = all (U)         along the first dimension that is not 1
%   T = all (U, DIM)    along DIM
%   T = all (U, 'all')  over all elements
%
%   T is an ordinary array of truth values.
%
%   Example
%     all (DeviceArray ([1 2 0]))  % 0
%
%   See also DeviceArray, any, nnz.

  if nargin == 1
    r = DeviceArray_CUDA ('all', a, -1) ~= 0;
  else
    r = reduced (a, 'all', @all, varargin{:}) ~= 0;
  end
end
