function [v, i] = sort (u, varargin)
%sort  Elements in order.
%
%   V = sort (U)                along the first dimension that is not 1
%   V = sort (U, DIM)
%   V = sort (..., 'descend')
%   [V, PLACE] = sort (U, ...)  and where they were
%
%   Equal elements keep their order, and NaN is larger than any number.
%
%   Example
%     gather (sort (DeviceArray ([3 1 2])))  % 1 2 3
%
%   See also DeviceArray, median, max, find.

  dim = -1;
  mode = 'ascend';
  for k = 1:numel (varargin)
    if ischar (varargin{k})
      mode = lower (varargin{k});
    else
      dim = along (varargin{k});
    end
  end
  if ~isscalar (dim) || dim == 0 || ~any (strcmp (mode, {'ascend', 'descend'}))
    error ('DeviceArray:option', 'sort takes a dimension, and ''ascend'' or ''descend''.');
  end
  if nargout > 1
    [v, i] = DeviceArray_CUDA ('sort', u, dim, mode);
  else
    v = DeviceArray_CUDA ('sort', u, dim, mode);
  end
end
