function dim = alongOne (dim, name)
%alongOne  Gives one dimension as verbs take it: its number. NAME refuses 'all'
%          and lists.

  dim = along (dim);
  if ~isscalar (dim) || dim == 0
    error ('DeviceArray:dimension', '%s: the dimension must be a whole number from 1 up.', name);
  end
end
