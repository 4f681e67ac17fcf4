function m = median (u, varargin)
%median  Medians of elements.
%
%   M = median (U)         along the first dimension that is not 1
%   M = median (U, DIM)    along DIM
%   M = median (U, DIMS)   along several, as along one
%   M = median (U, 'all')  over all elements
%   M = median (..., 'omitnan')
%
%   NaN where there is one, but with 'omitnan'. One median is an ordinary
%   number.
%
%   Example
%     median (DeviceArray ([5 1 2 4]))  % 3
%
%   See also DeviceArray, mean, sort.

  if nargin == 1
    m = DeviceArray_CUDA ('median', u, -1);
  else
    m = reduced ('median', u, varargin{:});
  end
end
