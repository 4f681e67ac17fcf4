## -*- texinfo -*-
## @deftypefn {} {@var{c} =} fuzz_result (@var{c})
## The call @var{c} of @code{fuzz_call} with its result, to the bit: the values
## want, the places at which they stand (at; all where it is @qcode{":"}), the
## size of the result, and the second output of two time levels, older.
##
## Small calls are computed by @code{fma_stencil} and its like.  Of one sweep over a
## large array a part is.  Many sweeps are calls of one sweep each on the processor,
## and hundreds of them two calls.
## @end deftypefn

function c = fuzz_result (c)
  o = c.options;
  for field = {"Previous", "Source", "Weight", "Boundary"}
    if (isfield (o, field{1}))
      o.(field{1}) = fuzz_gathered (o.(field{1}));
    endif
  endfor
  x = full (fuzz_gathered (c.a{1}));
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

function [want, at, dims, older] = computed (c, x, given)
  o = struct ("Boundary", 0, "Dim", [], "Iterations", 1, "Shape", "same", "flip", "corr", "Previous", [], ...
              "Weight", 0, "Source", [], "Every", []);
  for name = fieldnames (given).'
    o.(name{1}) = given.(name{1});
  endfor
  [sweeps, every] = deal (double (o.Iterations), double (o.Every));
  filters = {c.h};
  if (c.letter != "d")
    filters = c.a{2};
    if (! iscell (filters))
      filters = {filters};
    endif
  endif
  type = "double";
  if (isa (x, "single") || isfloat (x) && c.letter != "d" && any (cellfun (@(f) isa (f, "single"), filters(:))))
    type = "single";
  endif
  ends_in = merge (isfloat (x), type, class (x));
  boundary = as_numbers (o.Boundary, class (x));
  filters = cellfun (@(f) turned (cast (full (f), merge (c.letter == "d", "double", type)), o.flip), filters(:).', ...
                     "UniformOutput", false);
  steps = arrayfun (@(i) step_of (c, filters, i, boundary, double (o.Dim), x), 1:numel (filters), "UniformOutput", false);
  u = narrowed (cast (x, type), ends_in);
  older = cast (full (o.Previous), type);
  [weight, source] = deal (cast (o.Weight, type), cast (full (o.Source), type));
  [two_levels, plus] = deal (isfield (given, "Previous"), isfield (given, "Source"));
  single_step = numel (steps) == 1 && isempty (every) && ! two_levels && ! plus;

  at = ":";
  taps = merge (c.letter == "d", 9, sum (cellfun (@numel, filters)));
  reach = strcmpi (o.Shape, "full") * (steps{1}.entries - 1);
  work = prod (postpad (size (x), numel (reach), 1) + reach) * taps;
  if (sweeps > 200 && single_step && ! isempty (x))
    half = floor (sweeps / 2) + 1;
    u = library (steps{1}, library (steps{1}, u, half), sweeps - half);
  elseif (sweeps == 1 && single_step && work > 4e5 && ! isempty (x))
    [want, at, dims] = two_parts (steps{1}, cast (u, type), o.Shape, 2e5 / work);
    want = narrowed (want, ends_in);
    return;
  else
    slow = sweeps * numel (steps) > 1 && (work * sweeps > 1e6 || taps * sweeps > 400);
    states = zeros (0, 1, "single");
    for n = 1:merge (isempty (x), min (sweeps, 1), sweeps)
      next = cast (u, type);
      for step = [steps{:}]
        if (slow)
          next = library (step, next, 1);
        else
          next = step.reference (next, step.inputs{:}, "Shape", o.Shape);
        endif
      endfor
      ## Integers and truth values are rounded once, at the end of the sweep.
      next = narrowed (next, ends_in);
      if (two_levels)
        next = exact_fma (older, weight, next);
        older = u;
      endif
      if (plus)
        next += source;
      endif
      u = next;
      if (! isempty (every) && mod (n, every) == 0)
        states = [cast(states, type); u(:)];
      endif
    endfor
  endif
  dims = size (u);
  want = u(:);
  if (! isempty (every))
    ## The states lie along one more dimension, those of a column along the second.
    want = cast (states, type);
    dims = [dims(1:end-iscolumn (u)), sweeps / every];
    dims = dims(1:max ([2, find(dims != 1)]));
  endif
endfunction

## The filter, turned round for "conv".
function f = turned (f, word)
  if (strcmpi (word, "conv"))
    f = reshape (f(end:-1:1), size (f));
  endif
endfunction

## A step: the function, its inputs behind the array, and the reference for it.
function step = step_of (c, filters, number, boundary, dims, x)
  f = filters{number};
  references = struct ("s", @fma_stencil, "d", @fma_derivative, "c", @fma_convolution);
  options = {};
  entries = postpad (size (f), max (ndims (x), ndims (f)), 1);
  if (c.letter != "c")
    along = [find(size (x) != 1, 1), 1](1);
    if (! isempty (dims))
      along = min (dims(number), 8);        # nothing here has so many, and all are 1
    endif
    options = {"Dim", along};
    entries = ones (1, max (along, ndims (x)));
    entries(along) = merge (c.letter == "d", 9, numel (f));
    if (! isempty (dims) && iscell (boundary) && numel (filters) > 1 && numel (boundary) == numel (filters))
      boundary = boundary{number};
    endif
  elseif (iscell (boundary))
    ## An entry for each dimension of this filter's call: those that are missing, or too many, have no say.
    boundary(end+1:ndims (x)) = {0};
    boundary = boundary(1:min (end, max (ndims (x), ndims (f))));
  endif
  step = struct ("name", c.name, "inputs", {[{f}, options, {"Boundary", boundary}]}, "reference", references.(c.letter), ...
                 "entries", entries, "line", c.letter != "c");
endfunction

function u = library (step, u, sweeps)
  u = feval (step.name, u, step.inputs{:}, "Backend", "cpu", "Iterations", sweeps);
endfunction

## Computes a share at the array's beginning and an equal one at its end: the valid result over the array with its
## sides.
function [want, at, dims] = two_parts (step, x, shape, share)
  entries = step.entries;
  boundary = step.inputs{end};
  if (step.line && iscell (boundary))
    boundary = repmat ({boundary(:).'}, 1, 9);
  endif
  around = sweep_options ({"Shape", shape}).around;
  [ahead, behind] = around (entries);
  dims = postpad (size (x), numel (entries), 1) + ahead + behind - (entries - 1);
  if (any (dims <= 0))
    [want, at, dims] = deal (zeros (0, 1, class (x)), ":", max (dims, 0));
    return;
  endif
  padded = extended (x, ahead, boundary, behind);
  places = reshape (1:prod (dims), dims);
  counts = max (1, floor (dims * share ^ (1 / nnz (dims > 1))));
  [want, at] = deal (zeros (0, 1, class (x)), []);
  for first = {0 * dims, dims - counts}
    outputs = arrayfun (@(low, n) low + (1:n), first{1}, counts, "UniformOutput", false);
    inputs = arrayfun (@(low, n) low + (1:n), first{1}, counts + entries - 1, "UniformOutput", false);
    want = [want; step.reference(padded(inputs{:}), step.inputs{1:end-2}, "Shape", "valid")(:)];
    at = [at; places(outputs{:})(:)];
  endfor
  dims = dims(1:max ([2, find(dims != 1)]));
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

## Results as values of a class.
function y = narrowed (y, type)
  if (strcmp (type, "logical"))
    y(isnan (y)) = 0;
    y = round (y) != 0;
  else
    y = cast (y, type);
  endif
endfunction
