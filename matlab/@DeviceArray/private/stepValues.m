function values = stepValues (values, n)
%stepValues  Checks the values of N steps: a matrix with a column a step, or a
%            cell of arrays with a page a step.

  if ~iscell (values)
    if ~(isfloat (values) && isreal (values) && ndims (values) == 2)
      badOption (sprintf (['Bad value for ''Values'': got %s, expected a real matrix with a column a step, or a cell of ' ...
                           'arrays with a page a step.'], toldValue (values)));
    end
    if size (values, 1) > 0 && size (values, 2) < n
      badOption (sprintf ('''Values'' is %s, and has a column for each step, of which there are %d.', ...
                          sizeText (size (values)), n));
    end
    return;
  end
  values = reshape (values, 1, []);
  for i = 1:numel (values)
    kind = strangeKind (values{i});
    if ~isempty (kind)
      badOption (sprintf (['Bad value for ''Values'': entry %d is %s, and expected are real numbers or truth values: a full ' ...
                           'array, integers of up to 32 bits.'], i, kind));
    end
    if size (values{i}, ndims (values{i})) < n
      badOption (sprintf (['''Values'' has %s for entry %d, and its last dimension has a page for each step, of which there ' ...
                           'are %d.'], sizeText (size (values{i})), i, n));
    end
  end
  if ~isempty (values) && all (cellfun (@(v) isNumbers (v) && strcmp (class (v), class (values{1})), values))
    % Numbers alone: several steps go at once.
    values = cellfun (@(v) v(1:min (end, n)), values, 'UniformOutput', false);
    values = vertcat (values{:});
  end
end

function yes = isNumbers (v)
  yes = isfloat (v) && ~isa (v, 'DeviceArray') && ndims (v) == 2 && size (v, 1) == 1;
end
