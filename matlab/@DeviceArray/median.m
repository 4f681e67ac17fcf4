function m = median (u, varargin)
%median  Medians of elements.
%
%   M = median (U)         along the first dimension that is not 1
%   M = median (U, DIM)    along DIM
%   M = median (U, 'all')  over all elements
%
%   NaN where there is one. One median is an ordinary number.
%
%   Example
%     median (DeviceArray ([5 1 2 4]))  % 3
%
%   See also DeviceArray, mean, sort.

  dim = -1;
  if nargin > 1
    dim = along (varargin{:});
  end
  if dim == 0
    u = reshape (u, [], 1);
    dim = 1;
  end
  if ~isfloat (u)
    u = double (u);
  end
  d = DeviceArray_CUDA ('size', u);
  if dim < 0
    dim = find ([d 2] ~= 1, 1);
  end
  n = extent (u, dim);
  if n == 0
    m = mean (u, dim);
    return
  end
  u = DeviceArray_CUDA ('sort', u, dim, 'ascend');
  index = repmat ({':'}, 1, max (numel (d), dim));
  index{dim} = floor ((n + 1) / 2);
  m = DeviceArray_CUDA ('pick', u, index{:});
  if mod (n, 2) == 0
    index{dim} = n / 2 + 1;
    m = (m + DeviceArray_CUDA ('pick', u, index{:})) / 2;
  end
  % NaN comes last.
  index{dim} = n;
  m = m + 0 ./ ~isnan (DeviceArray_CUDA ('pick', u, index{:}));
end
