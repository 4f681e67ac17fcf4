function [w, place] = cummin (u, dim)
%cummin  The smallest so far.
%
%   W = cummin (U)             along the first dimension that is not 1
%   W = cummin (U, DIM)
%   [W, PLACE] = cummin (...)  and where they are, the first of equals
%
%   NaN counts only where there is nothing else yet.
%
%   Example
%     gather (cummin (DeviceArray ([3 1 2])))  % 3 1 1
%
%   See also DeviceArray, min, cumsum.

  if nargin < 2
    dim = -1;
  else
    dim = alongOne (dim, 'cummin');
  end
  if nargout > 1
    [w, place] = running ('min', u, dim);
  else
    w = running ('min', u, dim);
  end
end
