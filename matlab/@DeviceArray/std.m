function v = std (u, weight, varargin)
%std  Standard deviations of elements.
%
%   S = std (U)
%   S = std (U, WEIGHT)
%   S = std (U, WEIGHT, DIM)
%
%   WEIGHT is 0 (or []) for a division by N - 1, 1 for one by N. DIM is a
%   dimension, or 'all'; unless given, the first that is not 1. One value is an
%   ordinary number.
%
%   Example
%     std (DeviceArray ([1 2 3]))  % 1
%
%   See also DeviceArray, var, mean.

  dim = -1;
  if nargin < 2 || isempty (weight)
    weight = 0;
  elseif isa (weight, 'DeviceArray') || ~isscalar (weight) || weight ~= 0 && weight ~= 1
    refuse ('a weight of std but 0 and 1', 'std (gather (u), weight)');
  end
  if nargin > 2
    dim = along (varargin{:});
  end
  if ~isscalar (dim)
    refuse ('std along several dimensions', 'std (gather (u), weight, dims)');
  end
  v = DeviceArray_CUDA ('std', u, weight, dim);
end
