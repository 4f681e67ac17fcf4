function checkPages (pages, state)
%checkPages  Checks that arrays with a page a step lie where a state does.

  home = DeviceArray_CUDA ('where', state);
  for i = 1:numel (pages)
    if isa (pages{i}, 'DeviceArray')
      there = DeviceArray_CUDA ('where', pages{i});
      if ~strcmp (there.Place, home.Place)
        error ('DeviceArray:dataType', ['DeviceArray: the states lie in %s, and entry %d of ''Values'' in %s: gather one, and ' ...
                                        'make a DeviceArray of it there.'], home.Place, i, there.Place);
      end
    end
  end
end
