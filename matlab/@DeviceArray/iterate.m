function varargout = iterate (f, n, varargin)
%iterate  N steps of a solver in one call, each step as few kernels.
%
%   [U, V, ...] = DeviceArray.iterate (F, N, U, V, ...)
%   [U, V, ..., INFO] = DeviceArray.iterate (F, N, U, V, ..., NAME, VALUE, ...)
%   [U, V, ..., R, INFO] = DeviceArray.iterate (..., 'Record', G)
%
%   F is a function of array code: [U, V, ...] = F (U, V, ...), or a step that
%   DeviceArray.compile has made, which is not recorded again. F is called
%   once, with arrays that hold no numbers and record what is done with
%   them; what was recorded becomes kernels, and these do the N steps. The
%   results have the bits of
%
%     for k = 1:N
%       [U, V, ...] = F (U, V, ...);
%     end
%
%   U, V, ...  the states: DeviceArrays or ordinary arrays; these go to the
%              engine once, and come back as ordinary arrays. A step keeps
%              their sizes; their classes may change in the first step.
%   N          how many steps; a whole number from 0.
%   INFO       a struct: Steps that were done, the Reason of the end
%              ('steps' or 'until'), the Kernels of a step (and other
%              operations), the Milliseconds of a step, all told, and the
%              steps whose states were Kept ('Every').
%
%   A step may use this list. U and V are states or results from them; one of
%   two may be an array or a number from outside, or expand. m is a mask, s a
%   number; i, j, k, F, d come from outside; a name alone is of U.
%     u + v, u - v, u .* v, u ./ v, u .\ v, u .^ v, -u, +u, s * u, u * s, u / s,
%     s \ u, u == v, u ~= v, u < v, u <= v, u > v, u >= v, u & v, u | v, ~m
%     merge (m, u, v), xor (m, u), max (u, v), min (u, v), mod (u, v),
%     rem (u, v), atan2 (u, v), hypot (u, v), arrayfun (@(x) 2 * x, u)
%     abs, sqrt, exp, expm1, log, log2, log10, log1p, sin, cos, tan, asin, acos,
%     atan, sinh, cosh, tanh, asinh, acosh, atanh, sinpi, cospi, erf, erfc,
%     cbrt, nthroot (u, 3), floor, ceil, round, fix, sign, real, imag, conj,
%     isnan, isinf, isfinite, double, single, int8, int16, int32, uint8,
%     uint16, uint32
%     u(i, j), u(i, :), u(:), u(end), u(i, j) = v(j, i), u(:, 2) = s,
%     u(m) = s, u(m) = v(m)
%     [u, v], [u; v], cat (3, u, v), repmat (u, 2, 1), reshape (u, 1, []),
%     permute (u, [2 1]), ipermute (u, [2 1]), squeeze, u', u.', flip, fliplr,
%     flipud, rot90, circshift (u, 1), triu, tril, diff
%     sum, prod, mean, var, std, sumsq, any, all, max, min, nnz, dot (u, v),
%     norm (u(:)), isequal (u, v), sum (u, 2), max (u(:)), cumsum, cumprod,
%     cummax, cummin, sort, median, [v, place] = max (u), [v, place] = sort (u)
%     zeros (2, 3, 'like', u), ones (2, 3, 'like', u), DeviceArray.zeros (2, 3),
%     rand (2, 3, 'like', u), DeviceArray.rand (2, 3), randn (4, 'like', u),
%     randi (9, 4, 'like', u)
%     size, numel, ndims, rows, columns, length, isempty, isscalar, isvector,
%     isrow, iscolumn, ismatrix, issquare, isreal, isfloat, isinteger,
%     islogical, isnumeric, underlyingType, isUnderlyingType (u, 'single')
%     StencilConstantMemory_CUDA (u, k), ConvolutionConstantMemory_CUDA (u, F),
%     DerivativeConstantMemory_CUDA (u, d)
%
%   The last three take their options, and reductions a dimension; later
%   operations use what they give, also as 'Boundary', 'Weight' and 'Source'.
%   Asking for values is the error 'trace': gather, printing, if and while
%   on a DeviceArray, indices and filters that are computed, find. The host's
%   own random numbers, the clock, persistent and global variables are read
%   once, while the step is recorded; DeviceArray.rand and its like give new
%   numbers in each step, those of the loop.
%
%   Arrays of a step are DeviceArrays, also where the states are ordinary ones:
%   CLASS and ISA say so (isUnderlyingType (u, 'single') tells of values), and
%   sums, exp, sin, .^ may differ in the last bit from the host's. What is one
%   number in the loop is an array of one element: its square root is never
%   complex, and of zeros of both signs max and min may give the other one. A
%   NaN that becomes a truth value is true, where LOGICAL of the loop is an
%   error.
%
%   Options
%     'States'    how many of the arrays are states; the others are passed
%                 to F as they are, and stay. Without it as many as F has
%                 outputs; for an anonymous function all, up to a struct or
%                 a cell: iterate (@(u, h) C (u, h), N, U, H, 'States', 1).
%     'Every'     m, a divisor of N: the states are those after m, 2 m, ...
%                 steps, one behind the other in one more dimension. With
%                 'Until' it need not divide N: the state at the end is the
%                 last one. INFO.Kept has their steps.
%     'Record'    a function of the states after a step (of no constants, and
%                 so is 'Until'), whose result, some numbers, becomes a column
%                 of R.
%     'Values'    a matrix with a column a step, whose numbers come to F as
%                 further arguments behind the states: sources in time. Or a
%                 cell of arrays, ordinary ones or DeviceArrays, whose last
%                 dimension is the step: of V, m x n x N, step s gets
%                 V(:,:,s), of m x N a column (one page of m x n alone is
%                 n columns). Pages of ordinary arrays go to the engine some
%                 at a time: there need be no room for all.
%     'Until'     a function of the states after a step: where it is true,
%                 that was the last step. N may be Inf: room for 'Every' and
%                 'Record' is made as steps come. It is recorded like F: write
%                 & and | for && and ||.
%     'Check'     every how many steps that is asked (10 unless given), and
%                 after the last: it waits for the engine.
%     'Progress'  true: a line tells how far it is.
%
%   Errors
%     DeviceArray:trace   what cannot be recorded, and where; a state that
%                         changes its size
%     DeviceArray:option  a bad option or number of steps
%     DeviceArray:until   'Until' gives NaN
%
%   Example
%     u = sin (pi * (1:99)' / 100);
%     f = @(u) u + 0.4 * StencilConstantMemory_CUDA (u, [1 -2 1]);
%     [u, info] = DeviceArray.iterate (f, 1000, u);
%
%   See also compile, StencilConstantMemory_CUDA, GrayScott_Demo.

  [f, number, compiled] = compiledStep (f);
  [arguments, asked] = stepOptions (f, varargin);
  if ~isempty (number) && asked.Guessed
    asked.States = min (compiled.States, numel (arguments));
  end
  if ~isempty (asked.Until) && isequal (n, Inf)
    n = flintmax - 1;
  end
  if ~(isa (n, 'double') && isreal (n) && isscalar (n) && n == fix (n) && n >= 0 && n < flintmax)
    n = wholeNumber ('the number of steps, the second input', n, 0);
  end
  if asked.Every > 0 && mod (n, asked.Every) ~= 0 && isempty (asked.Until)
    badOption (sprintf ('Bad value for ''Every'': got %d, expected a divisor of the steps, which are %d.', asked.Every, n));
  end
  asked.Values = stepValues (asked.Values, n);
  records = ~isempty (asked.Record);
  if nargout > asked.States + records + 1
    badOption (sprintf ('%d outputs were asked for, and there are %d.', nargout, asked.States + records + 1));
  end
  constants = arguments(asked.States+1:end);
  pages = {};
  if iscell (asked.Values)
    pages = asked.Values;
  end
  [held, given] = onDevice (arguments(1:asked.States), [constants, pages]);
  if ~isempty (pages)
    checkPages (pages, held{1});
  end
  info = struct ('Steps', 0, 'Reason', 'steps', 'Kernels', 0, 'Milliseconds', 0, 'Kept', zeros (1, 0));
  % No steps are recorded all the same where sizes depend on it.
  keeps = asked.Every > 0;
  more = n > 0 || keeps || records;
  kept = cell (0, asked.States);
  recorded = {};
  % The last result says when a run has ended, where that is not known.
  ends = ~isempty (asked.Until);
  % A compiled step serves as it is, unless more or other things are asked of it.
  if ~isempty (number)
    if compiled.Anew || records || ends || ~isempty (asked.Values) || asked.States ~= compiled.States ...
       || numel (constants) ~= compiled.Constants || ~(isempty (constants) || areAlike (constants, keptConstants (number)))
      number = [];
    end
  end
  started = tic ();
  while more
    if isempty (number)
      step = DeviceArray_CUDA ('record', held{1});
      guard = whenGone (@(varargin) forgetStep (step)); %#ok<NASGU>
      [info.Kernels, changed] = recordStep (step, f, held, constants, asked);
    else
      step = number;
      info.Kernels = compiled.Kernels;
      changed = {};
    end
    changes = ~isempty (changed);
    if changes && info.Steps > 0
      error ('DeviceArray:trace', ['A state changes its class in the second step, too: the states are %s then. Convert ', ...
                                   'it in the step, such as u = double (u > 0).'], strjoin (changed, ', '));
    end
    % A step that changes a class is done once, and the others are recorded anew.
    times = n - info.Steps;
    if changes
      times = min (times, 1);
    end
    values = [];
    if ~iscell (asked.Values) && size (asked.Values, 1) > 0
      values = beside (asked.Values(:,info.Steps+1:end), held{1});
    end
    results = cell (1, asked.States * (1 + keeps) + records + ends);
    plan = [times, info.Steps, n, asked.Every, asked.Check, asked.Progress];
    try
      [results{:}] = DeviceArray_CUDA ('run', step, plan, values, held{:}, pages{:});
    catch caught
      if isempty (number) || ~strcmp (caught.identifier, 'DeviceArray:trace')
        rethrow (caught);
      end
      % It was compiled for other arrays.
      number = [];
      continue
    end
    told = [times 0];
    if ends
      told = gather (results{end});
    end
    if records
      recorded{end+1} = gather (results{end-ends}); %#ok<AGROW>
    end
    if keeps
      kept(end+1,:) = results(asked.States+(1:asked.States)); %#ok<AGROW>
    end
    if n > 0
      held = results(1:asked.States);
    end
    info.Steps = info.Steps + told(1);
    if told(2)
      info.Reason = 'until';
    end
    more = info.Steps < n && ~told(2);
    guard = []; %#ok<NASGU>
  end
  info.Milliseconds = 1000 * toc (started) / max (info.Steps, 1);
  if keeps
    info.Kept = asked.Every:asked.Every:info.Steps;
    if ~isempty (asked.Until) && mod (info.Steps, asked.Every) ~= 0
      info.Kept(end+1) = info.Steps;
    end
    held = cellfun (@joinStates, num2cell (kept, 1), held, 'UniformOutput', false);
  end
  for i = find (given)
    held{i} = gather (held{i});
  end
  results = held;
  if records
    results{end+1} = [recorded{:}];
  end
  results{end+1} = info;
  varargout = results(1:max (nargout, 1));
end
