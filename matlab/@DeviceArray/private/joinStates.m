function all = joinStates (kept, one)
%joinStates  States on the way, which lie in some arrays, in one.

  if iscolumn (one)
    d = 2;
  else
    d = ndims (one) + 1;
  end
  all = kept{1};
  for i = 2:numel (kept)
    all = cat (d, all, kept{i});
  end
end
