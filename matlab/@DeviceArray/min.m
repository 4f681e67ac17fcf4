function [c, i] = min (a, b, dim)
%min  Smallest elements, or the smaller of two arrays' elements.
%
%   V = min (U1, U2)      element by element, on the device
%   X = min (U)           along the first dimension that is not 1
%   X = min (U, [], DIM)  along DIM, or over all elements with 'all'
%
%   X is an ordinary array. NaN counts only where there is nothing else.
%
%   Example
%     u = DeviceArray ([3 1 2]);
%     min (u)  % 1
%
%   See also DeviceArray, max.

  if nargout > 1
    refuse ('the second output of min', '[m, i] = min (gather (u))');
  elseif nargin == 2
    c = DeviceArray_CUDA ('min', a, b);
  elseif nargin == 1
    c = reduced (a, 'smallest', @(x, dim) min (x, [], dim));
  else
    mustBeEmpty (b, 'min');
    c = reduced (a, 'smallest', @(x, dim) min (x, [], dim), dim);
  end
end
