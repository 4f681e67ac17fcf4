function r = sum (a, varargin)
%sum  Sums of elements.
%
%   X = sum (U)         along the first dimension that is not 1
%   X = sum (U, DIM)    along DIM
%   X = sum (U, 'all')  over all elements
%
%   X is an ordinary array of U's class.
%
%   Example
%     sum (DeviceArray ([1 2; 3 4]))  % 4 6
%
%   See also DeviceArray, sumsq, dot.

  if nargin == 1
    r = DeviceArray_CUDA ('sum', a, -1);
  else
    r = reduced (a, 'sum', @sum, varargin{:});
  end
end
