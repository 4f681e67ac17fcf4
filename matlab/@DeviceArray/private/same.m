function yes = same (a, b)
%same  Whether two arrays, of which one may be ordinary, are equal.

  if ~(isfloat (a) || islogical (a)) || ~(isfloat (b) || islogical (b)) || ...
     ~isreal (a) || ~isreal (b) || issparse (a) || issparse (b)
    % Cells, texts, integers and the like are compared by the host's rules.
    if isa (a, 'DeviceArray')
      a = gather (a);
    end
    if isa (b, 'DeviceArray')
      b = gather (b);
    end
    yes = isequal (a, b);
  elseif ~isequal (size (a), size (b))
    yes = false;
  elseif isa (a, 'DeviceArray') && isa (b, 'DeviceArray')
    yes = ~DeviceArray_CUDA ('differ', a, b);
  elseif ~isa (a, 'DeviceArray') && ~isa (b, 'DeviceArray')
    yes = isequal (a, b);
  else
    yes = ~any (DeviceArray_CUDA ('ne', a, b), 'all');
  end
end
