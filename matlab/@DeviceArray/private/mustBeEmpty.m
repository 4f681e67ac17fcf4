function mustBeEmpty (b, name)
%mustBeEmpty  Refuses max (u, v, dim).

  if isa (b, 'DeviceArray') || ~isempty (b)
    error ('DeviceArray:dimension', ...
           '%s: a dimension goes with one array only: %s (u, [], dim).', name, name);
  end
end
