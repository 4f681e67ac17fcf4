function yes = areAlike (a, b)
%areAlike  Compares values: true for the same class, size and bits, so that
%          they give the same results. Never true of handles, since the object
%          behind one may change. DeviceArrays are not compared by their values:
%          that would wait for them.

  % This is on the way of each call of a compiled step: isequal takes ten times as long.
  yes = strcmp (class (a), class (b)) && ndims (a) == ndims (b) && all (size (a) == size (b));
  if ~yes
    return;
  end
  if isa (a, 'DeviceArray')
    yes = DeviceArray_CUDA ('shares', a, b) ~= 0;
  elseif iscell (a)
    for i = 1:numel (a)
      yes = yes && areAlike (a{i}, b{i});
    end
  elseif isstruct (a)
    [of_a, of_b] = deal (fieldnames (a), fieldnames (b));
    yes = numel (of_a) == numel (of_b) && all (strcmp (of_a, of_b)) && areAlike (struct2cell (a), struct2cell (b));
  elseif isa (a, 'function_handle')
    [of_a, of_b] = deal (functions (a), functions (b));
    yes = strcmp (func2str (a), func2str (b)) && strcmp (of_a.file, of_b.file);
    if yes && isfield (of_a, 'workspace')
      yes = areAlike (of_a.workspace, of_b.workspace);
    end
  elseif ~(isnumeric (a) || islogical (a) || ischar (a)) || issparse (a) ~= issparse (b) || isreal (a) ~= isreal (b)
    yes = false;
  elseif ~isreal (a)
    yes = areAlike (real (a), real (b)) && areAlike (imag (a), imag (b));
  else
    same = a == b;
    if ~all (same(:))
      same = same | (a ~= a & b ~= b);
    end
    yes = all (same(:));
    if yes && isfloat (a)
      zero = a == 0;
      yes = ~any (zero(:)) || issparse (a) || all (1 ./ a(zero) == 1 ./ b(zero));
    end
  end
end
