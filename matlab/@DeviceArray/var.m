function v = var (u, weight, varargin)
%var  Variances of elements.
%
%   V = var (U)
%   V = var (U, WEIGHT)
%   V = var (U, WEIGHT, DIM)
%
%   WEIGHT is 0 (or []) for a division by N - 1, 1 for one by N. DIM is a
%   dimension, or 'all'; unless given, the first that is not 1. One value is an
%   ordinary number.
%
%   Example
%     var (DeviceArray ([1 2 3]))  % 1
%
%   See also DeviceArray, std, mean.

  dim = -1;
  if nargin < 2 || isempty (weight)
    weight = 0;
  elseif isa (weight, 'DeviceArray') || ~isscalar (weight) || weight ~= 0 && weight ~= 1
    refuse ('a weight of var but 0 and 1', 'var (gather (u), weight)');
  end
  if nargin > 2
    dim = along (varargin{:});
  end
  if ~isscalar (dim)
    refuse ('var along several dimensions', 'var (gather (u), weight, dims)');
  end
  v = DeviceArray_CUDA ('var', u, weight, dim);
end
