## -*- texinfo -*-
## @deftypefn {} {@var{c} =} fuzz_result (@var{c})
## The call @var{c} of @code{fuzz_call} with its result, to the bit: the values
## want, the places at which they stand (at; all where it is @qcode{":"}), the
## size of the result, and the second output of two time levels, older.
##
## All three functions are chains of fused multiply-adds over a window of the array,
## which is extended first.  Small calls are computed here.  Of one sweep over a
## large array some elements are.  Many sweeps are calls of one sweep each on the
## processor, and hundreds of them two calls.
## @end deftypefn

function c = fuzz_result (c)
  o = c.options;
  for field = {"Previous", "Source", "Weight", "Boundary"}
    if (isfield (o, field{1}))
      o.(field{1}) = fuzz_gathered (o.(field{1}));
    endif
  endfor
  x = fuzz_gathered (c.a{1});
  if (! iscomplex (x))
    [c.want, c.at, c.size, c.older] = computed (c, x, o);
  else
    ## Each part by itself; a number as the boundary is a real one.
    [c.want, c.at, c.size, c.older] = computed (c, real (x), o);
    if (isfield (o, "Boundary"))
      o.Boundary = real_sides ({"Boundary", o.Boundary}){2};
    endif
    c.want = complex (c.want, computed (c, imag (x), o));
  endif
endfunction

function [want, at, dims, older] = computed (c, x, o)
  o = with_defaults (o);
  [at, older] = deal (":", []);
  filters = {9};
  if (! strcmp (c.letter, "d"))
    filters = c.a{2};
    if (! iscell (filters))
      filters = {filters};
    endif
  endif
  type = "double";
  if (isa (x, "single") || isfloat (x) && any (cellfun (@(f) isa (f, "single"), filters(:))))
    type = "single";
  endif
  ends_in = merge (isfloat (x), type, class (x));
  o.Boundary = as_numbers (o.Boundary, class (x));
  steps = cell (1, numel (filters));
  for i = 1:numel (filters)
    steps{i} = step_of (c, filters{i}, i, numel (filters), o, type, x);
  endfor
  u = narrowed (cast (full (x), type), ends_in);
  older = cast (full (o.Previous), type);
  [weight, source] = deal (cast (o.Weight, type), cast (full (o.Source), type));
  levels = ! isempty (o.Every) || isfield (c.options, "Previous") || isfield (c.options, "Source");

  shape = merge (o.Iterations == 0, "same", o.Shape);
  [dims, ahead, behind] = outputs (size (x), steps{1}.shape, shape);
  taps = sum (cellfun (@(step) numel (step.taps), steps));
  work = numel (x) * taps;
  if (isempty (x) || any (dims == 0))
    want = narrowed (zeros (dims), ends_in);
  elseif (o.Iterations == 1 && numel (steps) == 1 && ! levels)
    ## The ends of the array, places where tiles and blocks may end, and any others.
    n = prod (dims);
    at = (1:n).';
    if (work > 4e5)
      at = [1:min(n, 40), max(n - 40, 1):n, 126:132, 638:644, 1022:1027, 4094:4099];
      at = unique (min ([at, 1 + floor(n * mod ((1:400) * 0.6180339887, 1))], n))(:);
    endif
    want = narrowed (sweep (cast (u, type), steps{1}, at, ahead, behind), ends_in);
  elseif (o.Iterations > 200 && ! levels && numel (steps) == 1)
    half = floor (o.Iterations / 2) + 1;
    want = library (steps{1}, library (steps{1}, u, half), o.Iterations - half);
  else
    slow = work * o.Iterations > 1e6 || taps * o.Iterations > 400;
    want = u;
    states = zeros (0, 1, ends_in);
    for n = 1:o.Iterations
      next = cast (u, type);
      for step = steps
        if (slow)
          next = library (step{1}, next, 1);
        else
          [~, ahead, behind] = outputs (size (next), step{1}.shape, "same");
          next = reshape (sweep (next, step{1}, (1:numel (next)).', ahead, behind), size (x));
        endif
      endfor
      ## Integers and truth values are rounded once, at the end of the sweep.
      next = narrowed (next, ends_in);
      if (isfield (c.options, "Previous"))
        fma = fma_for ([older(:); next(:)], weight);
        next = fma (older, weight, next);
        older = u;
      endif
      if (isfield (c.options, "Source"))
        next += source;
      endif
      want = u = next;
      if (! isempty (o.Every) && mod (n, o.Every) == 0)
        states = [states; u(:)];
      endif
    endfor
    if (! isempty (o.Every))
      want = states;
    endif
  endif
  if (! isempty (o.Every))
    ## The states lie along one more dimension, those of a column along the second.
    dims = [size(x)(1:end-iscolumn (x)), o.Iterations / o.Every];
  endif
  while (numel (dims) > 2 && dims(end) == 1)
    dims(end) = [];
  endwhile
  want = want(:);
endfunction

function o = with_defaults (given)
  o = struct ("Boundary", 0, "Dim", [], "Iterations", 1, "Shape", "same", "flip", "corr", "Previous", [], ...
              "Weight", 0, "Source", [], "Every", []);
  for name = fieldnames (given).'
    o.(name{1}) = given.(name{1});
  endfor
  [o.Dim, o.Iterations, o.Every] = deal (double (o.Dim), double (o.Iterations), double (o.Every));
  [o.Shape, o.flip] = deal (lower (o.Shape), lower (o.flip));
endfunction

## A step: the shape of its window, its taps, its boundary for each dimension, and the inputs of its call.
function step = step_of (c, filter, number, count, o, type, x)
  taps = cast (full (filter), type);
  if (strcmp (o.flip, "conv"))
    taps = reshape (taps(end:-1:1), size (taps));
  endif
  boundary = o.Boundary;
  step.call = {c.name, taps, "Backend", "cpu"};
  step.differences = strcmp (c.letter, "d");
  if (strcmp (c.letter, "c"))
    step.shape = size (taps);
    if (iscell (boundary))
      ## An entry for each dimension of this filter's call: those that are missing, or too many, have no say.
      boundary(end+1:ndims (x)) = {0};
      boundary = boundary(1:min (end, max (ndims (x), ndims (taps))));
    endif
    step.boundary = boundary;
  else
    along = [find(size (x) != 1, 1), 1](1);
    if (! isempty (o.Dim))
      along = min (o.Dim(number), 9);       # nothing here has so many, and all are 1
      if (iscell (boundary) && count > 1 && numel (boundary) == count)
        boundary = boundary{number};
      endif
      step.call(end+1:end+2) = {"Dim", along};
    endif
    if (step.differences)
      taps = cast ([4/5, -1/5, 4/105, -1/280] / c.h, type);
    endif
    step.shape = ones (1, max (along, 2));
    step.shape(along) = merge (step.differences, 9, numel (taps));
    step.boundary = boundary;
    if (iscell (boundary))
      step.boundary = repmat ({boundary(:).'}, 1, 9);
    endif
  endif
  step.taps = taps;
  step.call(end+1:end+2) = {"Boundary", boundary};
endfunction

function u = library (step, u, sweeps)
  u = feval (step.call{1}, u, step.call{2:end}, "Iterations", sweeps);
endfunction

## A boundary with truth values as numbers, and numbers as an image of this class holds them.
function boundary = as_numbers (boundary, type)
  if (iscell (boundary))
    boundary = cellfun (@(one) as_numbers (one, type), boundary, "UniformOutput", false);
  elseif (! ischar (boundary))
    boundary = double (fuzz_gathered (boundary));
    if (strcmp (type, "logical"))
      boundary = double (boundary != 0);
    elseif (! any (strcmp (type, {"double", "single"})))
      boundary = double (cast (boundary, type));
    endif
  endif
endfunction

## The size of the result, and how many ghost values it meets on either side of each dimension.
function [dims, ahead, behind] = outputs (dims, shape, outputs)
  dims(end+1:numel (shape)) = 1;
  shape(end+1:numel (dims)) = 1;
  around = sweep_options ({"Shape", outputs}).around;
  [ahead, behind] = around (shape);
  dims = max (dims + ahead + behind - (shape - 1), 0) .* (dims > 0);
endfunction

## Results as values of a class.
function y = narrowed (y, type)
  if (strcmp (type, "logical"))
    y(isnan (y)) = 0;
    y = round (y) != 0;
  else
    y = cast (y, type);
  endif
endfunction

## The elements at places `at` after one sweep, a column.
function acc = sweep (x, step, at, ahead, behind)
  dims = size (x);
  dims(end+1:numel (ahead)) = 1;
  shape = step.shape;
  shape(end+1:numel (dims)) = 1;
  padded = extended (x, ahead, step.boundary, behind)(:);
  dims += ahead + behind;
  stride = cumprod ([1, dims])(1:end-1);
  dims -= shape - 1;

  ## Where the window of each element begins in the extended array.
  first = ones (size (at));
  rest = at - 1;
  for d = 1:numel (dims)
    first += mod (rest, dims(d)) * stride(d);
    rest = floor (rest / dims(d));
  endfor
  fma = fma_for (padded, step.taps(:));
  acc = zeros (size (at), class (x));
  if (step.differences)
    stride = stride(find (shape == 9, 1));
    for i = 1:4
      acc = fma (padded(first + (4 + i) * stride) - padded(first + (4 - i) * stride), step.taps(i), acc);
    endfor
    return;
  endif
  for e = 1:numel (step.taps)
    offset = 0;
    rest = e - 1;
    for d = find (shape > 1)
      offset += mod (rest, shape(d)) * stride(d);
      rest = floor (rest / shape(d));
    endfor
    acc = fma (padded(first + offset), step.taps(e), acc);
  endfor
endfunction

## The fma of a column, a number and a column: the plain expression where a chain over these numbers rounds nothing.
function fma = fma_for (x, taps)
  whole = @(v) all (v == fix (v) | ! isfinite (v));
  largest = @(v) max ([1; abs(v(isfinite (v)))]);
  fma = @exact_fma;
  if (whole (x) && whole (taps) && 2 * numel (taps) * largest (x) * largest (taps) < flintmax (class (x)))
    fma = @(a, b, c) a * b + c;
  endif
endfunction
