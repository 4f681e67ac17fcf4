function r = reduced (this, verb, ofHost, dim, varargin)
%reduced  A reduction along the first dimension that is not 1, or along DIM.
%
%   The host computes it of an empty array, by its own rules.

  if ~isempty (varargin)
    % Such as 'native' and 'extra', which functions of the host pass on.
    r = ofHost (gather (this), dim, varargin{:});
    return
  end
  d = DeviceArray_CUDA ('size', this);
  if nargin < 4
    dim = find (d ~= 1, 1);
    if isempty (dim)
      dim = 1;
    end
  elseif ischar (dim) && strcmp (dim, 'all')
    dim = 0;
  elseif ~isnumeric (dim) || ~isscalar (dim) || ~(dim >= 1) || dim ~= fix (dim)
    error ('DeviceArray:dimension', ...
           ['The dimension must be a whole number from 1 up, or ''all'' for all elements; results ' ...
            'have the array''s class.']);
  end
  if all (d)
    r = DeviceArray_CUDA (verb, this, double (dim));
  elseif dim == 0
    r = ofHost (reshape (gather (this), [], 1), 1);
  else
    r = ofHost (gather (this), dim);
  end
end
