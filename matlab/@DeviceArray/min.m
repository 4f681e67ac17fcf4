function [c, i] = min (a, b, dim) %#ok<STOUT>
%min  Smallest elements, or the smaller of two arrays' elements.
%
%   W = min (U, V)        element by element
%   M = min (U)           along the first dimension that is not 1
%   M = min (U, [], DIM)  along DIM, or over all elements with 'all'
%
%   NaN counts only where there is nothing else. One element is an ordinary
%   number.
%
%   Example
%     u = DeviceArray ([3 1 2]);
%     min (u)  % 1
%
%   See also DeviceArray, max, sort.

  if nargout > 1
    refuse ('the second output of min', '[m, i] = min (gather (u))');
  elseif nargin == 2
    c = DeviceArray_CUDA ('min', a, b);
  elseif nargin == 1
    c = DeviceArray_CUDA ('smallest', a, -1);
  else
    mustBeEmpty (b, 'min');
    c = DeviceArray_CUDA ('smallest', a, along (dim));
  end
end
