function constants = keptConstants (number, new)
%keptConstants  The constants that a compiled step was recorded with; none where
%               'clear functions' has forgotten them. With two inputs they are
%               set; 'drop' forgets them.

  persistent kept
  if isempty (kept)
    kept = struct ();
  end
  name = sprintf ('step%.0f', number);
  if nargin == 1
    constants = {};
    if isfield (kept, name)
      constants = kept.(name);
    end
  elseif ~ischar (new)
    kept.(name) = new;
  elseif isfield (kept, name)
    kept = rmfield (kept, name);
  end
end
