## -*- texinfo -*-
## @deftypefn {} {[@var{want}, @var{at}, @var{older}] =} fuzz_result (@var{name}, @var{a}, @var{o})
## What function @var{name} must return for the inputs in the cell array @var{a}
## and the options in the struct @var{o}, to the bit.  Of a large array only some
## elements are computed: @var{at} are their places, @qcode{":"} where it is all.
## @var{older} is the second output of two time levels, [] where there are none.
##
## All three functions are chains of fused multiply-adds over a window of the array,
## which is extended first.  Where all numbers are whole and small, nothing rounds
## and the plain expression is the fma.  Many sweeps, and sweeps over a large array, are as many
## calls of one sweep on the processor, or of two parts of them.  A sweep of several
## filters, or of more than filters, is what a call of each gives, and then its sums.
## @end deftypefn

function [want, at, older] = fuzz_result (name, a, o)
  at = ":";
  older = [];
  a{1} = fuzz_gathered (a{1});
  for field = {"Previous", "Source", "Weight", "Boundary"}
    if (isfield (o, field{1}))
      o.(field{1}) = fuzz_gathered (o.(field{1}));
    endif
  endfor
  if (iscomplex (a{1}))
    ## Each part by itself, at the same places; a number as the boundary is a real one.
    chance = rand ("twister");
    [re, at] = fuzz_result (name, [{real(a{1})}, a(2:end)], o);
    rand ("twister", chance);
    if (isfield (o, "Boundary"))
      o.Boundary = real_sides ({"Boundary", o.Boundary}){2};
    endif
    [im, at] = fuzz_result (name, [{imag(a{1})}, a(2:end)], o);
    want = complex (re, im);
    return;
  endif
  levels = any (isfield (o, {"Previous", "Source", "Every"}));
  if (! levels && numel (a) > 1 && iscell (a{2}) && numel (a{2}) == 1)
    a{2} = a{2}{1};
  endif
  if (numel (a) > 1 && iscell (a{2}) || levels)
    [want, older] = in_parts (name, a, o);
    return;
  endif
  x = full (a{1});
  type = class (x);
  boundary = 0;
  if (isfield (o, "Boundary"))
    boundary = o.Boundary;
  endif
  boundary = as_numbers (boundary, class (x));
  sweeps = 1;
  if (isfield (o, "Iterations"))
    sweeps = double (o.Iterations);
  endif
  outputs = "same";
  if (isfield (o, "Shape") && sweeps > 0)
    outputs = o.Shape;
  endif
  around = sweep_options ({"Shape", outputs}).around;
  along = [find(size (x) != 1, 1), 1](1);
  if (isfield (o, "Dim"))
    along = min (double (o.Dim), 9);      # nothing here has so many, and all are 1
  endif

  differences = false;
  switch (name)
    case "StencilConstantMemory_CUDA"
      shape = ones (1, max (along, 2));
      shape(along) = numel (a{2});
      taps = reshape (full (a{2}), shape);
      if (isa (taps, "single"))
        type = "single";
      endif
      x = cast (x, type);
      taps = cast (taps, type);
      if (isfield (o, "flip") && strcmpi (o.flip, "conv"))
        taps = reshape (taps(end:-1:1), shape);
      endif
    case "DerivativeConstantMemory_CUDA"
      differences = true;
      h = 1;
      if (numel (a) > 1 && ! ischar (a{2}))
        h = double (a{2});
      endif
      shape = ones (1, max (along, 2));
      shape(along) = 9;
      taps = cast ([4/5, -1/5, 4/105, -1/280] / h, type);
    case "ConvolutionConstantMemory_CUDA"
      taps = full (a{2});
      if (isa (taps, "single") || isa (x, "single"))
        type = "single";
      endif
      if (! isfloat (x))
        type = "double";
      endif
      x = cast (x, type);
      taps = cast (taps, type);
      shape = size (taps);
      if (isfield (o, "flip") && strcmpi (o.flip, "conv"))
        taps = reshape (taps(end:-1:1), shape);
      endif
  endswitch
  ends_in = type;
  if (! isfloat (a{1}))
    ends_in = class (a{1});
  endif
  want = narrowed (x, ends_in);
  if (sweeps == 0)
    return;
  endif
  dims = size_of_outputs (x, shape, around);
  if (any (dims == 0))
    want = narrowed (zeros (dims, type), ends_in);
    return;
  endif
  if (iscell (boundary) && ! strcmp (name, "ConvolutionConstantMemory_CUDA"))
    ## The same pair along the one dimension in which there is anything beyond.
    boundary = repmat ({boundary(:).'}, 1, max (ndims (x), 9));
  endif

  work = numel (x) * numel (taps) * sweeps;
  if (sweeps > 1 && (work > 1e6 || sweeps * numel (taps) > 400))
    filter = a{2};
    switch (name)
      case "StencilConstantMemory_CUDA"
        filter = taps(:);
      case "ConvolutionConstantMemory_CUDA"
        filter = taps;
    endswitch
    want = by_calls (name, want, filter, o, sweeps);
    return;
  endif
  if (work > 4e5 && sweeps == 1)
    ## The ends of the array, places where tiles and blocks may end, and any others.
    n = prod (dims);
    at = [1:min(n, 40), max(n - 40, 1):n, 126:132, 638:644, 1022:1027, 4094:4099];
    at = unique (min ([at, 1 + floor(n * rand (1, 400))], n))(:);
    want = narrowed (sweep (x, shape, taps, boundary, differences, at, around), ends_in);
    return;
  endif
  for i = 1:sweeps
    want = sweep (cast (want, type), shape, taps, boundary, differences, (1:prod (dims))(:), around);
    want = narrowed (reshape (want, dims), ends_in);
  endfor
endfunction

## Sweeps that are more than one filter, and the states on the way, one behind the other in a column.
function [want, older] = in_parts (name, a, o)
  u = full (a{1});
  filters = a{2};
  if (! iscell (filters))
    filters = {filters};
  endif
  type = class (u);
  if (! isfloat (u))
    type = "double";
  elseif (any (cellfun (@(filter) isa (filter, "single"), filters(:))))
    type = "single";
  endif
  if (isfloat (u))
    u = cast (u, type);
  endif
  as_given = @(v) v;
  if (isfield (o, "flip") && strcmpi (o.flip, "conv"))
    as_given = @(v) reshape (v(end:-1:1), size (v));
  endif
  filters = cellfun (@(filter) as_given (cast (full (filter), type)), filters(:).', "UniformOutput", false);
  older = source = [];
  if (isfield (o, "Previous"))
    older = cast (full (o.Previous), type);
    weight = cast (o.Weight, type);
  endif
  if (isfield (o, "Source"))
    source = cast (full (o.Source), type);
  endif
  sweeps = every = 1;
  if (isfield (o, "Iterations"))
    sweeps = every = double (o.Iterations);
  endif
  if (isfield (o, "Every"))
    every = double (o.Every);
  endif
  states = isfield (o, "Every");
  want = u;
  if (isempty (u))
    return;
  endif

  in_class = class (u);
  if (isfield (o, "Boundary"))
    o.Boundary = as_numbers (o.Boundary, in_class);
  endif
  steps = cell (1, numel (filters));
  for i = 1:numel (filters)
    steps{i} = step_of (name, filters{i}, i, numel (filters), o, numel (u), ndims (u));
  endfor
  if (states)
    want = u([])(:);
  endif
  for sweep = 1:sweeps
    next = cast (u, type);
    for i = 1:numel (steps)
      next = steps{i} (next);
    endfor
    ## Integers and truth values are rounded once, at the end of the sweep.
    next = narrowed (next, in_class);
    if (isfield (o, "Previous"))
      next = reshape (weighted (weight, older(:), next(:)), size (next));
      older = u;
    endif
    if (! isempty (source))
      next = next + source;
    endif
    u = next;
    if (! states)
      want = u;
    elseif (mod (sweep, every) == 0)
      want = [want; u(:)];
    endif
  endfor
endfunction

## What the filter of that number makes of an array.
function step = step_of (name, filter, number, count, o, elements, dimensions)
  own = struct ();
  options = {"Backend", "cpu"};
  if (isfield (o, "Dim"))
    own.Dim = o.Dim(number);
    options(end+1:end+2) = {"Dim", own.Dim};
  endif
  if (isfield (o, "Boundary"))
    own.Boundary = o.Boundary;
    if (strcmp (name, "StencilConstantMemory_CUDA") && isfield (o, "Dim") && iscell (o.Boundary) ...
        && numel (o.Boundary) == count)
      own.Boundary = o.Boundary{number};
    endif
    if (iscell (own.Boundary) && strcmp (name, "ConvolutionConstantMemory_CUDA"))
      ## An entry for each dimension of this filter's call: those that are missing, or too many, have no say.
      own.Boundary(end+1:dimensions) = {0};
      own.Boundary = own.Boundary(1:min (end, max (dimensions, ndims (filter))));
    endif
    options(end+1:end+2) = {"Boundary", own.Boundary};
  endif
  step = @(u) fuzz_result (name, {u, filter}, own);
  if (elements * numel (filter) > 1e5)
    step = @(u) feval (name, u, filter, options{:});
  endif
endfunction

## weight * older + step, rounded once.
function z = weighted (weight, older, step)
  if (isa (step, "single"))
    z = of_singles (weight, older, step);
    return;
  endif
  plain = @(v) v == fix (v) & abs (v) < 2 ^ 26 | ! isfinite (v);
  if (all ([plain(weight); plain(older); plain(step)]))
    z = weight * older + step;
  else
    z = exact_fma (weight, older, step);
  endif
endfunction

## A boundary with truth values as numbers, and numbers as an image of this class holds them.
function boundary = as_numbers (boundary, type)
  if (iscell (boundary))
    boundary = cellfun (@(one) as_numbers (one, type), boundary, "UniformOutput", false);
  elseif (! ischar (boundary))
    boundary = double (boundary);
    if (strcmp (type, "logical"))
      boundary = double (boundary != 0);
    elseif (! any (strcmp (type, {"double", "single"})))
      boundary = double (cast (boundary, type));
    endif
  endif
endfunction

## How many outputs there are along each dimension, where so many ghost values are met.
function dims = size_of_outputs (x, shape, around)
  dims = size (x);
  dims(end+1:numel (shape)) = 1;
  shape(end+1:numel (dims)) = 1;
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
function acc = sweep (x, shape, taps, boundary, differences, at, around)
  dims = size (x);
  dims(end+1:numel (shape)) = 1;
  shape(end+1:numel (dims)) = 1;
  [ahead, behind] = around (shape);
  padded = extended (x, ahead, boundary, behind)(:);
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

  fma = fma_for (padded, taps, numel (taps));
  acc = zeros (size (at), class (x));
  if (differences)
    step = stride(find (shape == 9, 1));
    for i = 1:4
      acc = fma (taps(i), padded(first + (4 + i) * step) - padded(first + (4 - i) * step), acc);
    endfor
    return;
  endif
  for e = 1:numel (taps)
    offset = 0;
    rest = e - 1;
    for d = find (shape > 1)
      offset += mod (rest, shape(d)) * stride(d);
      rest = floor (rest / shape(d));
    endfor
    acc = fma (padded(first + offset), taps(e), acc);
  endfor
endfunction

## The quickest function that is the exact fma for chains over these numbers.
function fma = fma_for (x, taps, count)
  largest = max (abs (x(isfinite (x)))(:));
  if (isempty (largest))
    largest = 0;
  endif
  if (all (x(:) == fix (x(:)) | ! isfinite (x(:))) && all (taps(:) == fix (taps(:))) ...
      && count * largest * max (abs (taps(:))) < flintmax (class (x)))
    fma = @(a, b, c) a .* b + c;
  elseif (isa (x, "single"))
    fma = @of_singles;
  elseif (moderate (x) && moderate (taps))
    fma = @by_splitting;
  else
    fma = @exact_fma;
  endif
endfunction

## Whether neither products of these, nor what is split off, over- or underflow.
function yes = moderate (v)
  v = abs (v(v != 0 & isfinite (v)));
  yes = all (v(:) > 2 ^ -300 & v(:) < 2 ^ 300);
endfunction

## Of singles: the product is a double exactly, the sum is rounded to odd in double.
function z = of_singles (a, b, c)
  p = double (a) .* double (b);
  c = double (c);
  z = p + c;
  t = z - p;
  e = (p - (z - t)) + (c - t);
  e(! isfinite (z)) = 0;
  z = single (to_odd (z, e));
endfunction

## Of doubles: Dekker's product, two exact sums, the small parts added with rounding to odd.
function z = by_splitting (a, b, c)
  plain = a .* b + c;
  t = 134217729 * a;  ah = t - (t - a);  al = a - ah;
  t = 134217729 * b;  bh = t - (t - b);  bl = b - bh;
  uh = a .* b;
  ul = ((ah .* bh - uh) + ah .* bl + al .* bh) + al .* bl;
  th = c + ul;   t = th - c;   tl = (c - (th - t)) + (ul - t);
  vh = uh + th;  t = vh - uh;  vl = (uh - (vh - t)) + (th - t);
  s = tl + vl;   t = s - tl;   e = (tl - (s - t)) + (vl - t);
  z = vh + to_odd (s, e);
  off = ! isfinite (plain);
  if (any (off))
    z(off) = plain(off);
  endif
endfunction

## s + e, of which s is the nearest double, rounded to odd.
function s = to_odd (s, e)
  bits = typecast (s, "uint64");
  move = e != 0 & ! bitand (bits, uint64 (1));
  if (any (move))
    away = (e > 0) == (s > 0);
    bits(move & away) += uint64 (1);
    bits(move & ! away) -= uint64 (1);
    s = typecast (bits, "double");
  endif
endfunction

function want = by_calls (name, x, filter, o, sweeps)
  options = {"Boundary", 0, "Backend", "cpu"};
  if (isfield (o, "Boundary"))
    options{2} = o.Boundary;
  endif
  if (isfield (o, "Dim"))
    options(end+1:end+2) = {"Dim", o.Dim};
  endif
  want = x;
  if (sweeps > 1000)
    half = floor (sweeps / 2) + 1;
    for part = [half, sweeps - half]
      want = feval (name, want, filter, options{:}, "Iterations", part);
    endfor
    return;
  endif
  for i = 1:sweeps
    want = feval (name, want, filter, options{:});
  endfor
endfunction
