function index = numbers (index)
%numbers  Indices as numbers in double, or ':': the places of ordinary masks.

  for k = 1:numel (index)
    i = index{k};
    if isa (i, 'DeviceArray')
      refuse ('an index that is a DeviceArray', 'u(gather (v) > 0)');
    elseif islogical (i)
      index{k} = find (i);
    elseif ~isa (i, 'double') && ~strcmp (i, ':')
      index{k} = double (i);
    end
  end
end
