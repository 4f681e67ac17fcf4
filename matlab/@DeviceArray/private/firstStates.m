function some = firstStates (all, one, count)
%firstStates  The first COUNT of states like ONE, one behind the other.

  if iscolumn (one)
    d = 2;
  else
    d = ndims (one) + 1;
  end
  if size (all, d) == count
    some = all;
  else
    places = repmat ({':'}, 1, d);
    places{d} = 1:count;
    some = all(places{:});
  end
end
