function [c, i] = min (a, b, varargin)
%min  Smallest elements, or the smaller of two arrays' elements.
%
%   W = min (U, V)             element by element
%   M = min (U)                along the first dimension that is not 1
%   M = min (U, [], DIM)       along DIM, or over all elements with 'all'
%   M = min (U, [], DIMS)      along several, as along one
%   [M, PLACE] = min (U, ...)  and where they are, the first of equals
%
%   NaN counts only where there is nothing else, unless 'includenan' comes last:
%   then M is NaN where there is one. One element is an ordinary number.
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
  elseif nargin == 1 && nargout < 2
    c = DeviceArray_CUDA ('smallest', a, -1);
  elseif nargin == 1
    [c, i] = withPlaces ('smallest', a, -1);
  elseif ~isobject (b) && isempty (b)
    if nargout < 2
      c = reduced ('smallest', a, varargin{:});
    else
      [c, i] = withPlaces ('smallest', a, along (varargin{:}));
    end
  elseif ischar (varargin{end}) && any (strcmpi (varargin{end}, {'omitnan', 'includenan'})) && nargin == 3
    c = DeviceArray_CUDA ('min', a, b);
    if strcmpi (varargin{end}, 'includenan')
      c = withNaN (c, isnan (a) | isnan (b));
    end
  else
    error ('DeviceArray:dimension', 'min: a dimension goes with one array only: min (u, [], dim).');
  end
end
