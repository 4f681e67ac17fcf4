function [w, place] = cummax (u, dim)
%cummax  The largest so far.
%
%   W = cummax (U)             along the first dimension that is not 1
%   W = cummax (U, DIM)
%   [W, PLACE] = cummax (...)  and where they are, the first of equals
%
%   NaN counts only where there is nothing else yet.
%
%   Example
%     gather (cummax (DeviceArray ([1 3 2])))  % 1 3 3
%
%   See also DeviceArray, max, cumsum.

  if nargin < 2
    dim = -1;
  else
    dim = alongOne (dim, 'cummax');
  end
  if nargout > 1
    [w, place] = running ('max', u, dim);
  else
    w = running ('max', u, dim);
  end
end
