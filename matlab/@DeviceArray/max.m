function [c, i] = max (a, b, dim)
%max  Largest elements, or the larger of two arrays' elements.
%
%   V = max (U1, U2)      element by element, on the device
%   X = max (U)           along the first dimension that is not 1
%   X = max (U, [], DIM)  along DIM, or over all elements with 'all'
%
%   X is an ordinary array. NaN counts only where there is nothing else.
%
%   Example
%     u = DeviceArray ([3 1 2]);
%     max (u)  % 3
%
%   See also DeviceArray, min.

  if nargout > 1
    refuse ('the second output of max', '[m, i] = max (gather (u))');
  elseif nargin == 2
    c = DeviceArray_CUDA ('max', a, b);
  elseif nargin == 1
    c = reduced (a, 'largest', @(x, dim) max (x, [], dim));
  else
    mustBeEmpty (b, 'max');
    c = reduced (a, 'largest', @(x, dim) max (x, [], dim), dim);
  end
end
