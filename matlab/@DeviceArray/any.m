function r = any (a, varargin)
%any  Whether any element is not zero.
%
%   T = any (U)         along the first dimension that is not 1
%   T = any (U, DIM)    along DIM
%   T = any (U, 'all')  over all elements
%
%   T is an ordinary array of truth values. NaN counts for nothing.
%
%   Example
%     any (DeviceArray ([0 0 3]))  % 1
%
%   See also DeviceArray, all, nnz.

  if nargin == 1
    r = DeviceArray_CUDA ('any', a, -1) ~= 0;
  else
    r = reduced (a, 'any', @any, varargin{:}) ~= 0;
  end
end
