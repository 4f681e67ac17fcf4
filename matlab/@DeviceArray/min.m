function [c, i] = min (a, b, dim)
%min  Smallest elements, or the smaller of two arrays' elements.
%
%   W = min (U, V)             element by element
%   M = min (U)                along the first dimension that is not 1
%   M = min (U, [], DIM)       along DIM, or over all elements with 'all'
%   [M, PLACE] = min (U, ...)  and where they are, the first of equals
%
%   NaN counts only where there is nothing else. One element is an ordinary
%   number.
%
%   Example
%     u = DeviceArray ([3 1 2]);
%     min (u)  % 1
%
%   See also DeviceArray, max, sort.

  if nargin == 2
    if nargout > 1
      error ('DeviceArray:numberOfOutputs', 'min: two arrays have one output.');
    end
    c = DeviceArray_CUDA ('min', a, b);
    return
  end
  at = -1;
  if nargin > 2
    mustBeEmpty (b, 'min');
    at = along (dim);
  end
  if nargout > 1
    [c, i] = DeviceArray_CUDA ('smallest', a, at);
    if isa (c, 'DeviceArray') && numel (c) == 1
      c = gather (c);
      i = gather (i);
    end
  else
    c = DeviceArray_CUDA ('smallest', a, at);
  end
end
