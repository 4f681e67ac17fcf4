function varargout = arrayfun (f, varargin)
%arrayfun  A function of one element, of all elements of arrays, as one kernel.
%
%   [A, B, ...] = arrayfun (F, U, V, ...)
%
%   [A, B, ...] = F (U, V, ...) is a function of numbers, a handle or a name.
%   It is called once, with an element of each array that holds no number and
%   records what is done with it: sum (u) is u, numel (u) is 1, u * v is a
%   product. Then a kernel does it with all elements: in between nothing is
%   stored. The list of what F may use is that of iterate, but for filters.
%
%   U, V, ...  DeviceArrays, and ordinary arrays, which go to the device; sizes
%              expand. A number comes to F as it is.
%   A, B, ...  DeviceArrays, in the classes that F gives; of no elements, too.
%
%   Choose by merge: an element has no answer to "if (u > 0)". DeviceArray.rand
%   and its like draw a number for each, as DeviceArray.rand (SIZE) does.
%
%   What cannot be recorded is done by the host's arrayfun, an element at a
%   time, and a warning says why; so is what has the options 'UniformOutput',
%   false or 'ErrorHandler'. Results come back as DeviceArrays, but for cells,
%   texts and complex numbers. An error of F is an error of arrayfun. Where
%   Octave has no library for its version, an element is false to "if".
%
%   Errors
%     DeviceArray:size   sizes that do not expand
%     DeviceArray:trace  in a step that is recorded: what cannot be
%
%   Warnings
%     DeviceArray:arrayfun  F runs on the host, and why
%
%   Example
%     u = DeviceArray ([1 -4 9]);
%     f = @(x, s) merge (x < 0, 0, s * sqrt (abs (x)));
%     gather (arrayfun (f, u, 2))  % 2 0 6
%
%   See also iterate, merge, bsxfun.

  if nargin < 2
    tooFew ('arrayfun (F, U, ...)');
  end
  [arrays, options] = parted (varargin);
  held = cellfun (@(u) isa (u, 'DeviceArray'), arrays);
  if ~any (held)
    refuse ('an option of arrayfun', 'gather (u)');
  end
  dims = expandedSize (arrays);
  first = arrays{find(held, 1)};
  isInStep = any (cellfun (@isRecorded, arrays(held)));
  why = reason (arrays, options);
  later = '';
  if isempty (why)
    [varargout, why, later, caught] = onElements (f, arrays, dims, first, max (nargout, 1));
    if isempty (why) && isempty (later)
      return
    elseif isInStep
      if isempty (why)
        rethrow (caught);
      end
      error ('DeviceArray:trace', 'arrayfun: %s', why);
    end
  elseif isInStep
    error ('DeviceArray:trace', 'arrayfun: %s', why);
  end
  told = 'arrayfun calls the function on the host, an element at a time: %s';
  if ~isempty (why)
    warning ('DeviceArray:arrayfun', told, why);
  end
  % An error of the function is raised here as it is.
  call = fromBase ();
  ordinary = cellfun (@(u) ofSize (u, dims), arrays, 'UniformOutput', false);
  if nargout > 0
    varargout = cell (1, nargout);
    [varargout{:}] = call (@arrayfun, f, ordinary{:}, options{:});
  else
    % A function without a result leaves none.
    varargout = {};
    call (@arrayfun, f, ordinary{:}, options{:});
    if exist ('ans', 'var')
      varargout = {ans};
    end
  end
  if ~isempty (later)
    warning ('DeviceArray:arrayfun', told, later);
  end
  for i = 1:numel (varargout)
    if isHeldKind (varargout{i})
      varargout{i} = beside (varargout{i}, first);
    end
  end
end

% The arrays, and the options behind them.
function [arrays, options] = parted (inputs)
  names = {'UniformOutput', 'ErrorHandler'};
  last = numel (inputs);
  while last > 2 && ischar (inputs{last-1}) && any (strncmpi (inputs{last-1}, names, max (numel (inputs{last-1}), 2)))
    last = last - 2;
  end
  arrays = inputs(1:last);
  options = inputs(last+1:end);
end

function yes = isHeldKind (x)
  yes = (isnumeric (x) || islogical (x)) && isreal (x) && ~issparse (x) && ~isa (x, 'int64') && ~isa (x, 'uint64');
end

% The reason for which nothing is recorded at all.
function why = reason (arrays, options)
  why = '';
  for i = 1:2:numel (options)
    if strncmpi (options{i}, 'ErrorHandler', numel (options{i}))
      why = 'an ''ErrorHandler'' gets the errors of the host.';
    elseif ~(isscalar (options{i+1}) && (islogical (options{i+1}) || isnumeric (options{i+1})) && options{i+1} == 1)
      why = 'with ''UniformOutput'', false the results are cells.';
    end
  end
  for i = 1:numel (arrays)
    if ~isa (arrays{i}, 'DeviceArray') && ~isHeldKind (arrays{i})
      why = sprintf ('%s is no array of a DeviceArray''s classes.', toldValue (arrays{i}));
    end
  end
end

% The size that arrays expand to.
function dims = expandedSize (arrays)
  dims = [1 1];
  for i = 1:numel (arrays)
    own = size (arrays{i});
    own(end+1:numel (dims)) = 1;
    dims(end+1:numel (own)) = 1;
    if any (own ~= dims & own ~= 1 & dims ~= 1)
      error ('DeviceArray:size', 'arrayfun: nonconformant arguments (argument %d is %s, those before expand to %s)', ...
             i, sizeText (own), sizeText (dims));
    end
    dims(dims == 1) = own(dims == 1);
  end
end

% An ordinary array of that size.
function x = ofSize (x, dims)
  if isa (x, 'DeviceArray')
    x = gather (x);
  end
  times = dims;
  own = size (x);
  own(end+1:numel (dims)) = 1;
  times(own == dims) = 1;
  if any (times ~= 1)
    x = repmat (x, times);
  end
end

% The results; or the reason that there are none: one to tell ahead, or an error that may be the function's own.
function [results, why, later, caught] = onElements (f, arrays, dims, first, count)
  results = cell (1, count);
  [why, later, caught] = deal ('', '', []);
  ordinary = cellfun (@(u) ~isa (u, 'DeviceArray'), arrays);
  numbers = ordinary & cellfun (@(u) numel (u) == 1, arrays);
  given = ordinary & ~numbers;
  arrays(given) = cellfun (@(u) beside (u, first), arrays(given), 'UniformOutput', false);
  held = arrays(~numbers);
  step = DeviceArray_CUDA ('elements', held{1});
  over = whenGone (@(varargin) DeviceArray_CUDA ('forget', step, true)); %#ok<NASGU>
  elements = arrays;
  elements(~numbers) = cellfun (@(u) DeviceArray_CUDA ('elements', step, u), held, 'UniformOutput', false);
  drawn = hostRandom ();
  try
    call = fromBase ();
    [results{:}] = call (@feval, f, elements{:});
    for i = 1:count
      if ~(isa (results{i}, 'DeviceArray') || isHeldKind (results{i})) || ~isequal (size (results{i}), [1 1])
        why = sprintf ('result %d of one element is %s, and one number is expected.', i, toldValue (results{i}));
      end
    end
  catch caught
    [why, later] = cannot (caught);
  end
  if any (drawn ~= hostRandom ())
    hostRandom (drawn);
    if isempty (why) && isempty (later)
      why = 'random numbers of the host are drawn one by one; DeviceArray.rand draws on the device.';
    end
  end
  if ~(isempty (why) && isempty (later))
    return
  end
  isOrdinary = cellfun (@(x) ~isa (x, 'DeviceArray'), results);
  results(isOrdinary) = cellfun (@(x) beside (x, first), results(isOrdinary), 'UniformOutput', false);
  try
    recorded = results;
    [results{:}] = DeviceArray_CUDA ('apply', step, dims, numel (held), held{:}, recorded{:});
  catch caught
    if ~strcmp (caught.identifier, 'DeviceArray:trace')
      rethrow (caught);
    end
    why = cannot (caught);
  end
end

% The reason that an error of the recording gives, or else that of an error which may be the function's own.
function [why, later] = cannot (caught)
  text = regexprep (caught.message, '^(DeviceArray_CUDA|DeviceArray): ', '');
  wants = '''DeviceArray \(gather it first\)''|''object''|<object>|object type';
  isOurs = strncmp (caught.identifier, 'DeviceArray:', 12) || ~isempty (regexp (text, wants, 'once'));
  text = regexprep (regexprep (text, wants, 'DeviceArray'), '([^.])\. [A-Z].*$', '$1.');
  if isempty (text)
    text = 'it was an error to record it.';
  end
  [why, later] = deal ('', text);
  if isOurs
    [why, later] = deal (text, '');
  end
end
