function dim = alongOne (dim, name)
%alongOne  What a verb takes for a dimension of NAME: its number. 'all' is none,
%          and so is a list.

  dim = along (dim);
  if ~isscalar (dim) || dim == 0
    error ('DeviceArray:dimension', '%s: the dimension must be a whole number from 1 up.', name);
  end
end
