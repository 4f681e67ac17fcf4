function yes = same (a, b, nans)
%same  Compares two arrays, of which one may be ordinary. NANS tells whether
%      NaN equals NaN.

  if ~known (a) || ~known (b)
    % Cells, texts and the like are compared by the host's rules.
    [a, b] = gather (a, b);
    yes = ofHost (a, b, nans);
  elseif ~isequal (size (a), size (b))
    yes = false;
  elseif ~isa (a, 'DeviceArray') && ~isa (b, 'DeviceArray')
    yes = ofHost (a, b, nans);
  elseif ~nans && isa (a, 'DeviceArray') && isa (b, 'DeviceArray')
    yes = ~DeviceArray_CUDA ('differ', a, b);
  else
    unequal = DeviceArray_CUDA ('ne', a, b);
    if nans
      unequal = unequal & ~(isnan (a) & isnan (b));
    end
    if isa (unequal, 'DeviceArray')
      unequal = DeviceArray_CUDA ('any', unequal, 0);
    end
    yes = ~unequal;
  end
end

function yes = ofHost (a, b, nans)
  if nans
    yes = isequaln (a, b);
  else
    yes = isequal (a, b);
  end
end

function yes = known (x)
  yes = isa (x, 'DeviceArray') || ...
        (isnumeric (x) || islogical (x)) && isreal (x) && ~issparse (x) && ~isa (x, 'int64') && ~isa (x, 'uint64');
end
