function r = sum (u, varargin)
%sum  Sums of elements.
%
%   S = sum (U)         along the first dimension that is not 1
%   S = sum (U, DIM)    along DIM
%   S = sum (U, DIMS)   along several, as along one: column after column
%   S = sum (U, 'all')  over all elements
%   S = sum (..., 'omitnan')
%
%   S is of U's class; of truth values and integers it is double. One sum is an
%   ordinary number. Elements are added in an order that depends on their
%   number alone, with the same bits on each device.
%
%   Example
%     sum (DeviceArray ([1 2; 3 4]))  % 4 6
%
%   See also DeviceArray, sumsq, mean, prod.

  if nargin == 1
    r = DeviceArray_CUDA ('sum', u, -1);
  else
    r = reduced ('sum', u, varargin{:});
  end
end
