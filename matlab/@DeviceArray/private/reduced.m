function r = reduced (verb, u, dim, varargin)
%reduced  A reduction, along what a script names behind the array: a
%         dimension, 'all', or several dimensions, as along one that has their
%         elements column after column; and without NaN, or with it.

  if nargin == 3 && isscalar (dim) && isnumeric (dim) && dim >= 1 && dim == fix (dim) && ~isobject (dim)
    r = DeviceArray_CUDA (verb, u, double (dim));
    return
  elseif nargin == 3 && strcmp (dim, 'all')
    r = DeviceArray_CUDA (verb, u, 0);
    return
  end
  [dim, nans] = along (dim, varargin{:});
  if ~isempty (nans) && ~any (strcmp (verb, {'sum', 'mean', 'median', 'largest', 'smallest'}))
    refuse (['''' nans ''' but with sum, mean, median, max and min'], 'x = gather (u)');
  end
  d = [];
  if ~isscalar (dim)
    [u, dim, d] = asOne (u, dim);
  end
  omits = strcmp (nans, 'omitnan') && isfloat (u);
  if omits && strcmp (verb, 'median') && numel (u) ~= 1
    r = medianOfNumbers (u, dim);
  elseif omits && any (strcmp (verb, {'sum', 'mean'}))
    w = isnan (u);
    r = DeviceArray_CUDA ('sum', DeviceArray_CUDA ('put', u, 0, w), dim);
    if strcmp (verb, 'mean')
      r = r ./ sumAlong (~w, dim);
    end
  else
    r = DeviceArray_CUDA (verb, u, dim);
  end
  if strcmp (nans, 'includenan') && any (strcmp (verb, {'largest', 'smallest'})) && numel (u) ~= 1
    r = withNaN (r, DeviceArray_CUDA ('any', isnan (u), dim));
  end
  if ~isempty (d) && isa (r, 'DeviceArray')
    if numel (r) == 0 && all (d)
      % The largest of nothing.
      d = 0 * d;
    end
    r = DeviceArray_CUDA ('reshape', r, d);
  end
end
