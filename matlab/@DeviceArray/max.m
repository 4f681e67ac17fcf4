function [c, i] = max (a, b, dim)
%max  Largest elements, or the larger of two arrays' elements.
%
%   W = max (U, V)             element by element
%   M = max (U)                along the first dimension that is not 1
%   M = max (U, [], DIM)       along DIM, or over all elements with 'all'
%   [M, PLACE] = max (U, ...)  and where they are, the first of equals
%
%   NaN counts only where there is nothing else. One element is an ordinary
%   number.
%
%   Example
%     u = DeviceArray ([3 1 2]);
%     max (u)  % 3
%
%   See also DeviceArray, min, sort.

  if nargin == 2
    if nargout > 1
      error ('DeviceArray:numberOfOutputs', 'max: two arrays have one output.');
    end
    c = DeviceArray_CUDA ('max', a, b);
    return
  end
  at = -1;
  if nargin > 2
    mustBeEmpty (b, 'max');
    at = along (dim);
  end
  if nargout > 1
    [c, i] = DeviceArray_CUDA ('largest', a, at);
    if isa (c, 'DeviceArray') && numel (c) == 1
      c = gather (c);
      i = gather (i);
    end
  else
    c = DeviceArray_CUDA ('largest', a, at);
  end
end
