function [kernels, changed] = recordStep (step, f, states, constants, asked)
%recordStep  Records a step that was begun.
%
%   KERNELS is how many kernels and other operations it is, CHANGED the classes
%   of its states where it changes one. Whoever has begun the step forgets it,
%   also where this is interrupted.

  changed = {};
  drawn = hostRandom ();
  try
    traced = states;
    for i = 1:numel (states)
      traced{i} = DeviceArray_CUDA ('argument', step, states{i});
    end
    values = {};
    if iscell (asked.Values) || size (asked.Values, 1) > 0
      values = valuesOf (step, asked.Values, states{1});
    end
    results = cell (size (states));
    call = fromBase ();
    [results{:}] = call (f, traced{:}, values{:}, constants{:});
    for i = 1:numel (results)
      if ~isa (results{i}, 'DeviceArray')
        results{i} = arrayOf (results{i}, states{1}, sprintf ('Result %d of the step', i));
      end
      now = size (results{i});
      before = size (states{i});
      if numel (now) ~= numel (before) || any (now ~= before)
        hint = '';
        if asked.Guessed && i > 1
          hint = sprintf (' The first %d arrays are taken for states; ''States'', %d says that fewer are.', numel (states), i - 1);
        end
        error ('DeviceArray:trace', 'State %d changes its size in a step, from %s to %s, and a step keeps sizes.%s', i, ...
               sizeText (size (states{i})), sizeText (size (results{i})), hint);
      end
    end
    others = {};
    records = ~isempty (asked.Record);
    ends = ~isempty (asked.Until);
    names = {'Record', 'Until'};
    for name = names([records, ends])
      g = asked.(name{1});
      try
        given = call (g, results{:});
      catch caught
        if isempty (regexp (caught.message, 'called with too many inputs|'' undefined', 'once'))
          rethrow (caught);
        end
        error ('DeviceArray:trace', 'The function of ''%s'' gets the states and nothing else: %s.', name{1}, caught.message);
      end
      others{end+1} = arrayOf (given, states{1}, ['What ''' name{1} ''' gives']); %#ok<AGROW>
    end
    if ends && numel (others{end}) ~= 1
      error ('DeviceArray:trace', '''Until'' gives %s values, and one is expected: all (...) or any (...) makes it so.', ...
             sizeText (size (others{end})));
    end
    if any (drawn ~= hostRandom ())
      warning ('DeviceArray:random', ['The step draws random numbers of the host, which are the same in all steps. ' ...
                                      'DeviceArray.rand, randn and randi draw new ones in each step.']);
    end
    kernels = DeviceArray_CUDA ('finish', step, [numel(results), records, ends], results{:}, others{:});
    if kernels(2)
      changed = cellfun (@underlyingType, results, 'UniformOutput', false);
    end
    kernels = kernels(1);
  catch caught
    explain (caught, numel (states), asked.Guessed);
  end
end

% The arguments behind the states: numbers, or a page of each entry.
function traced = valuesOf (step, values, first)
  if iscell (values)
    traced = cell (size (values));
    for i = 1:numel (values)
      like = values{i};
      page = size (like);
      page = [page(1:end-1), ones(1, numel (page) == 2)];
      if ~isa (like, 'DeviceArray')
        like = beside (like([]), first);
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
    traced{i} = DeviceArray_CUDA ('argument', step, beside (one, first));
  end
end

function u = arrayOf (x, like, what)
  u = x;
  if ~isa (x, 'DeviceArray')
    kind = strangeKind (x);
    if ~isempty (kind)
      error ('DeviceArray:trace', ['%s is %s, and expected are real numbers or truth values: a full array, integers of up ' ...
                                   'to 32 bits.'], what, kind);
    end
    u = beside (x, like);
  end
end

% Raises the error of a recording: with its place, and the identifier of what
% cannot be recorded.
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
