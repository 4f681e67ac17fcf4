function [c, i] = max (a, b, varargin)
%max  Largest elements, or the larger of two arrays' elements.
%
%   W = max (U, V)             element by element
%   M = max (U)                along the first dimension that is not 1
%   M = max (U, [], DIM)       along DIM, or over all elements with 'all'
%   M = max (U, [], DIMS)      along several, as along one
%   [M, PLACE] = max (U, ...)  and where they are, the first of equals
%
%   NaN counts only where there is nothing else, unless 'includenan' comes last:
%   then M is NaN where there is one. One element is an ordinary number.
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
  elseif nargin == 1 && nargout < 2
    c = DeviceArray_CUDA ('largest', a, -1);
  elseif nargin == 1
    [c, i] = withPlaces ('largest', a, -1);
  elseif ~isobject (b) && isempty (b)
    if nargout < 2
      c = reduced ('largest', a, varargin{:});
    else
      [c, i] = withPlaces ('largest', a, along (varargin{:}));
    end
  elseif ischar (varargin{end}) && any (strcmpi (varargin{end}, {'omitnan', 'includenan'})) && nargin == 3
    c = DeviceArray_CUDA ('max', a, b);
    if strcmpi (varargin{end}, 'includenan')
      c = withNaN (c, isnan (a) | isnan (b));
    end
  else
    error ('DeviceArray:dimension', 'max: a dimension goes with one array only: max (u, [], dim).');
  end
end
