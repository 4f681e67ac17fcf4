function [step, classes, kernels] = recordStep (f, states, constants, asked, place, again)
%recordStep  Records a step: its number, the classes of its states, and how
%            many kernels and other operations it is.

  if isempty (again)
    step = DeviceArray_CUDA ('record', states{1});
  else
    step = DeviceArray_CUDA ('record', states{1}, again);
  end
  % Also where the step is interrupted: what is drawn then is not the step's.
  over = onCleanup (@() DeviceArray_CUDA ('forget', step, true)); %#ok<NASGU>
  drawn = randomState ();
  try
    argument = @(u) DeviceArray_CUDA ('argument', step, u);
    traced = cellfun (argument, states, 'UniformOutput', false);
    values = valuesOf (step, asked.Values, place);
    results = cell (size (states));
    call = fromBase ();
    [results{:}] = call (f, traced{:}, values{:}, constants{:});
    for i = 1:numel (results)
      results{i} = arrayOf (results{i}, place, sprintf ('Result %d of the step', i));
      if ~isequal (size (results{i}), size (states{i}))
        hint = '';
        if asked.Guessed && i > 1
          hint = sprintf (' The first %d arrays are taken for states; ''States'', %d says that fewer are.', numel (states), i - 1);
        end
        error ('DeviceArray:trace', 'State %d changes its size in a step, from %s to %s, and a step keeps sizes.%s', i, ...
               sizeText (size (states{i})), sizeText (size (results{i})), hint);
      end
    end
    classes = cellfun (@underlyingType, results, 'UniformOutput', false);
    others = {};
    for name = {'Record', 'Until'}
      g = asked.(name{1});
      if ~isempty (g)
        try
          given = call (g, results{:});
        catch caught
          if isempty (regexp (caught.message, 'called with too many inputs|'' undefined', 'once'))
            rethrow (caught);
          end
          error ('DeviceArray:trace', 'The function of ''%s'' gets the states and nothing else: %s.', name{1}, caught.message);
        end
        others{end+1} = arrayOf (given, place, ['What ''' name{1} ''' gives']); %#ok<AGROW>
      end
    end
    if ~isempty (asked.Until) && numel (others{end}) ~= 1
      error ('DeviceArray:trace', '''Until'' gives %s values, and one is expected: all (...) or any (...) makes it so.', ...
             sizeText (size (others{end})));
    end
    shape = [numel(results), ~isempty(asked.Record), ~isempty(asked.Until)];
    if ~isequal (drawn, randomState ())
      warning ('DeviceArray:random', ['The step draws random numbers of the host, which are the same in all steps. ' ...
                                      'DeviceArray.rand, randn and randi draw new ones in each step.']);
    end
    kernels = DeviceArray_CUDA ('finish', step, shape, results{:}, others{:});
  catch caught
    if isempty (again)
      forgetStep (step);
    end
    explain (caught, numel (states), asked.Guessed);
  end
end

% The arguments behind the states: numbers, or a page of each entry.
function traced = valuesOf (step, values, place)
  if iscell (values)
    traced = cell (size (values));
    for i = 1:numel (values)
      like = values{i};
      page = size (like);
      page = [page(1:end-1), ones(1, numel (page) == 2)];
      if ~isa (like, 'DeviceArray')
        like = DeviceArray (like([]), place{:});
      end
      traced{i} = DeviceArray_CUDA ('argument', step, like, page);
    end
    return;
  end
  traced = cell (1, size (values, 1));
  for i = 1:numel (traced)
    % Without steps there is none.
    one = zeros (1, 1, class (values));
    if ~isempty (values)
      one = values(i);
    end
    traced{i} = DeviceArray_CUDA ('argument', step, DeviceArray (one, place{:}));
  end
end

% The host's generators of random numbers.
function state = randomState ()
  if exist ('OCTAVE_VERSION', 'builtin')
    state = {rand('state'), randn('state')};
  else
    state = rng ();
  end
end

function u = arrayOf (x, place, what)
  u = x;
  if ~isa (x, 'DeviceArray')
    kind = strangeKind (x);
    if ~isempty (kind)
      error ('DeviceArray:trace', ['%s is %s, and expected are real numbers or truth values: a full array, integers of up ' ...
                                   'to 32 bits.'], what, kind);
    end
    u = DeviceArray (x, place{:});
  end
end

% What a recording ends with: where, and under the identifier of what cannot be recorded.
function explain (caught, count, guessed)
  few = 'undefined in return list|called with too many outputs|Number of Outputs are Wrong|some elements undefined';
  if count > 1 && guessed && ~isempty (regexp (caught.message, few, 'once'))
    badOption (sprintf (['The step gives fewer results than there are states: all %d arrays are taken for states, and ' ...
                         '''States'', 1 says that the others are constants. %s'], count, caught.message));
  elseif ~isempty (regexp (caught.message, 'undefined in return list', 'once'))
    badOption (sprintf ('The step gives fewer results than there are states, which are %d: ''States'' says how many.', count));
  end
  kind = regexp (caught.identifier, '[^:]*$', 'match', 'once');
  text = regexprep (caught.message, '^DeviceArray_CUDA: ', '');
  if ~isempty (regexp (text, 'assignment of ''object'' to indexed|cannot be put into an ordinary array', 'once'))
    kind = 'trace';
    text = ['A value of a step cannot be put into an ordinary array. Begin with zeros (..., ''like'', u), or join values ' ...
            'by [a, b].'];
  end
  wants = regexp (text, '''DeviceArray \(gather it first\)''|''object''|<object>|object type', 'match', 'once');
  own_error = strncmp (caught.identifier, 'DeviceArray:', 12) && ~strcmp (kind, 'trace');
  advice = [' A step has no values while it is recorded: leave this out of it, and have values handed out with ' ...
            '''Record''.'];
  if ~isempty (wants)
    % A function of the host wants values.
    kind = 'trace';
    if ~isempty (regexp (text, 'operator', 'once'))
      advice = '';
    end
    text = [strrep(text, wants, '''DeviceArray''') '.' advice];
  elseif own_error && ~isempty (regexpi (text, 'gather', 'once'))
    kind = 'trace';
    other = regexp (text, ', or (for .*)\.$', 'tokens', 'once');
    if ~isempty (other)
      advice = [' In a step: ' other{1} '.'];
    end
    text = [regexprep(text, '(\. |: |; )[^.:;]*[gG]ather.*$', '.') advice];
  end
  if ~any (strcmp (kind, {'trace', 'unsupported'}))
    rethrow (caught);
  end
  place = '';
  own = fileparts (fileparts (mfilename ('fullpath')));
  others = fullfile (fileparts (own), 'private');
  for i = 1:numel (caught.stack)
    frame = caught.stack(i);
    if isempty (frame.file) || isempty (strfind (frame.file, own)) && isempty (strfind (frame.file, others)) %#ok<STREMP>
      place = sprintf (' (%s)', frame.name);
      if frame.line > 0
        place = sprintf (' (%s, line %d)', frame.name, frame.line);
      end
      break;
    end
  end
  error ('DeviceArray:trace', 'A step cannot be recorded%s: %s', place, text);
end
