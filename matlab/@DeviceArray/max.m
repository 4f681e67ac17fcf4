function [c, i] = max (a, b, dim) %#ok<STOUT>
%max  Largest elements, or the larger of two arrays' elements.
%
%   W = max (U, V)        element by element
%   M = max (U)           along the first dimension that is not 1
%   M = max (U, [], DIM)  along DIM, or over all elements with 'all'
%
%   NaN counts only where there is nothing else. One element is an ordinary
%   number.
%
%   Example
%     u = DeviceArray ([3 1 2]);
%     max (u)  % 3
%
%   See also DeviceArray, min, sort.

  if nargout > 1
    refuse ('the second output of max', '[m, i] = max (gather (u))');
  elseif nargin == 2
    c = DeviceArray_CUDA ('max', a, b);
  elseif nargin == 1
    c = DeviceArray_CUDA ('largest', a, -1);
  else
    mustBeEmpty (b, 'max');
    c = DeviceArray_CUDA ('largest', a, along (dim));
  end
end
