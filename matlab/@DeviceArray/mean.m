function m = mean (u, varargin)
%mean  Means of elements.
%
%   M = mean (U)         along the first dimension that is not 1
%   M = mean (U, DIM)    along DIM
%   M = mean (U, 'all')  over all elements
%
%   In double; of singles in single. One mean is an ordinary number.
%
%   Example
%     mean (DeviceArray ([1 2; 3 6]))  % 2 4
%
%   See also DeviceArray, sum, var, std, median.

  dim = -1;
  if nargin > 1
    dim = along (varargin{:});
  end
  m = DeviceArray_CUDA ('mean', u, dim);
end
