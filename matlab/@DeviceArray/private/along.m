function dim = along (dim, varargin)
%along  What a verb takes for a dimension: its number, or 0 for 'all'.

  if ~isempty (varargin)
    refuse ('more inputs of a reduction than the array and a dimension', 'x = gather (u)', ...
            'Results have the array''s class, and NaN counts. ');
  elseif ischar (dim) && strcmp (dim, 'all')
    dim = 0;
  elseif isa (dim, 'DeviceArray')
    refuse ('a dimension', 'gather (u)');
  elseif ~isnumeric (dim) || ~isscalar (dim) || ~(dim >= 1) || dim ~= fix (dim)
    error ('DeviceArray:dimension', ...
           ['The dimension must be a whole number from 1 up, or ''all'' for all elements; results ' ...
            'have the array''s class.']);
  end
  dim = double (dim);
end
