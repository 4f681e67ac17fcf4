function varargout = runStep (guard, number, f, asked, arguments) %#ok<INUSL>
%runStep  A step of a compiled function, recorded anew where it has to be.

  if numel (arguments) < asked.States
    badOption (sprintf ('The step takes %d states, and %d arguments were given.', asked.States, numel (arguments)));
  end
  constants = arguments(asked.States+1:end);
  [held, given, place] = onDevice (arguments(1:asked.States), constants);
  results = cell (1, asked.States + 1);
  fits = isempty (constants) || areSame (constants, keptConstants (number));
  if fits
    try
      [results{:}] = DeviceArray_CUDA ('run', number, [1 0 0 1 0], [], held{:});
    catch caught
      fits = ~strcmp (caught.identifier, 'DeviceArray:trace');
      if fits
        rethrow (caught);
      end
    end
  end
  if ~fits
    recordStep (f, held, constants, asked, place, number);
    keptConstants (number, constants);
    [results{:}] = DeviceArray_CUDA ('run', number, [1 0 0 1 0], [], held{:});
  end
  results = results(1:asked.States);
  results(given) = cellfun (@gather, results(given), 'UniformOutput', false);
  varargout = results(1:max (nargout, 1));
end

% Whether constants are those of the recording. DeviceArrays are not compared by their values: that would wait for them.
function yes = areSame (new, old)
  yes = numel (new) == numel (old);
  for i = 1:numel (new)
    if yes && isa (new{i}, 'DeviceArray') && isa (old{i}, 'DeviceArray')
      yes = DeviceArray_CUDA ('shares', new{i}, old{i}) ~= 0;
    else
      yes = yes && areAlike (new{i}, old{i});
    end
  end
end

% Whether values are of one class, and the same to the sign of a zero.
function yes = areAlike (a, b)
  yes = strcmp (class (a), class (b)) && isequal (a, b);
  if yes && iscell (a)
    yes = all (cellfun (@areAlike, a(:), b(:)));
  elseif yes && isstruct (a)
    yes = areAlike (struct2cell (a), struct2cell (b));
  elseif yes && isfloat (a)
    yes = isequal (1 ./ a(a == 0), 1 ./ b(b == 0));
  end
end
