## -*- texinfo -*-
## @deftypefn {} {[@var{id}, @var{o}] =} fuzz_identifier (@var{name}, @var{a}, @var{nout}, @var{env}, @var{world})
## The last part of the identifier that function @var{name} must raise when it is
## called with the inputs in the cell array @var{a} and @var{nout} outputs, or ""
## where it must succeed: the contract's checks, in the contract's order.
##
## @var{env} tells what the environment says: its field backend is "auto",
## "cuda" or "cpu", and bad is true where a variable makes no sense.
## @code{@var{world}.devices} is the number of usable devices, and
## @code{@var{world}.ranks} says whether there is an MPI.  @var{o} is a struct
## of the options that the call has, under their full names.
## @end deftypefn

function [id, o] = fuzz_identifier (name, a, nout, env, world)
  o = struct ();
  study = "";
  switch (name)
    case "ConstantMemoryDevice_CUDA"
      id = "";
      if (numel (a) > 0)
        id = "numberOfInputs";
      elseif (nout > 1)
        id = "numberOfOutputs";
      endif
      return;
    case "ConstantMemoryStudy_CUDA"
      fewest = inputs = 1;
    case "DerivativeConstantMemory_CUDA"
      fewest = 1;
      inputs = 1 + (numel (a) > 1 && ! is_text (a{2}));
    otherwise
      fewest = inputs = 2;
  endswitch

  ## The other ranks wait for this one, whatever is wrong with its inputs.
  joint = is_joint (name, a, fewest);
  if (joint && ! world.ranks)
    id = "rank";
    return;
  endif

  if (joint && numel (a) > 0 && is_complex (a{1}))
    id = "option";
    return;
  endif

  twice = false;
  if (fewest == 2)
    [inputs, o, twice] = words_behind (a, strcmp (name, "ConvolutionConstantMemory_CUDA"));
    if (numel (a) >= 2 && stands_alone (name, a(inputs+1:end)))
      id = "option";
      return;
    endif
  endif
  said = fieldnames (o);

  id = "numberOfInputs";
  if (numel (a) < fewest || mod (numel (a) - inputs, 2) != 0)
    return;
  endif
  held = false;
  if (! strcmp (name, "ConstantMemoryStudy_CUDA"))
    [a{1}, held] = fuzz_gathered (a{1});
  endif
  for i = inputs+1:2:numel (a)
    if (! is_text (a{i}))
      return;
    endif
  endfor
  id = "numberOfOutputs";
  most = 1;
  for i = inputs+1:2:numel (a)
    ## Whatever else is wrong with the options.
    if (strcmp (fuzz_meaning (a{i}, name, ""), "Previous"))
      most = 2;
    endif
  endfor
  if (nout > most)
    return;
  endif

  switch (name)
    case "StencilConstantMemory_CUDA"
      id = stencil_inputs (a{1:2});
    case "DerivativeConstantMemory_CUDA"
      id = derivative_inputs (a{1:inputs});
    case "ConvolutionConstantMemory_CUDA"
      id = convolution_inputs (a{1:2}, joint);
    case "ConstantMemoryStudy_CUDA"
      id = "study";
      if (is_text (a{1}) && any (strcmpi (a{1}, {"access", "readonly", "angles", "convolution"})))
        id = "";
        study = a{1};
      endif
  endswitch
  if (! isempty (id))
    return;
  endif

  id = "option";
  if (twice)
    return;
  endif
  rank = 0;
  if (strcmp (name, "ConvolutionConstantMemory_CUDA"))
    ## Of the array, and of the filter.
    rank = [ndims(a{1}), max(cellfun (@ndims, listed (a{2})))];
  endif
  for i = inputs+1:2:numel (a)
    found = fuzz_meaning (a{i}, name, study);
    ## A study is of one device.
    is_list = strcmp (found, "Device") && strcmp (name, "ConstantMemoryStudy_CUDA") && ! whole (a{i+1}, 1, 2 ^ 32 - 1);
    if (isempty (found) || ! suits (found, a{i+1}) || is_list || any (strcmp (said, found)))
      return;
    endif
    o.(found) = a{i+1};
  endfor
  filters = 1;
  levels = any (isfield (o, {"Previous", "Weight", "Source", "Every"}));
  if (numel (a) > 1 && iscell (a{2}) && fewest == 2)
    filters = numel (a{2});
  endif
  if (isfield (o, "Dim") && numel (o.Dim) != filters)
    return;
  endif
  ## Where each of several has its dimension, each may have its boundary; so may one in sweeps of several parts.
  each = filters > 1 && isfield (o, "Dim");
  if (isfield (o, "Boundary") && iscell (o.Boundary) && ! sides_suit (o.Boundary, rank, each * filters))
    return;
  endif
  ## A truth value is no NaN.
  if (isfield (o, "Boundary") && islogical (a{1}) && has_nan (o.Boundary))
    return;
  endif
  if ((filters > 1 || levels) && (isfield (o, "Shape") && ! strcmpi (o.Shape, "same") || ! levels_suit (a{1}, held, o)))
    return;
  endif
  if (isfield (o, "Shape") && ! strcmpi (o.Shape, "same"))
    ## Each sweep would have another size; and nobody has so many dimensions.
    sweeps = 1;
    if (isfield (o, "Iterations"))
      sweeps = double (o.Iterations);
    endif
    if (sweeps > 1 || sweeps == 1 && isfield (o, "Dim") && double (o.Dim) > 64)
      return;
    endif
  endif

  several = filters > 1 || levels;
  if (joint && (several || ! isfloat (a{1}) || isfield (o, "Shape") && ! strcmpi (o.Shape, "same") ...
                || isfield (o, "Backend") && strcmpi (o.Backend, "fastest") ...
                || isfield (o, "Device") && (is_text (o.Device) || numel (o.Device) > 1) ...
                || all (rank > 0) && o.Distributed > 3 ...
                || strcmp (name, "StencilConstantMemory_CUDA") && ! by_taps (a{1:2}) ...
                   && (ndims (a{1}) > 3 || isfield (o, "Dim") && double (o.Dim) > 3 || double (o.Distributed) > 3)))
    return;
  endif

  if (held)
    ## It is computed on where it lies, and an option may say the same.
    at = world.devices > 0 && ! strcmp (world.backend, "cpu");
    elsewhere = isfield (o, "Device") && (ischar (o.Device) || numel (o.Device) > 1 || double (o.Device) != double (at)) ...
                || isfield (o, "Backend") && strcmpi (o.Backend, {"cuda", "cpu"}{1 + at});
    if (elsewhere || env.bad)
      return;
    endif
    id = "";
    return;
  endif

  id = "";
  if (strcmp (name, "ConstantMemoryStudy_CUDA"))
    ## It does not ask the environment.
    wants = true;
  else
    if (env.bad)
      id = "option";
      return;
    endif
    backend = env.backend;
    if (isfield (o, "Backend"))
      backend = lower (o.Backend);
    endif
    wants = strcmp (backend, "cuda");
  endif
  device = 1;
  if (isfield (o, "Device"))
    ## One that is not there is an error, whatever the backend.
    device = double (o.Device);
    if (is_text (o.Device))
      device = max (world.devices, 1);
    endif
    wants = true;
  endif
  if (wants && any (device(:) > world.devices))
    id = "noDevice";
  endif
endfunction

## Whether a boundary is NaN, or has one in its cells.
function yes = has_nan (boundary)
  if (iscell (boundary))
    yes = any (cellfun (@has_nan, boundary));
  else
    boundary = fuzz_gathered (boundary);
    yes = isnumeric (boundary) && any (isnan (boundary));
  endif
endfunction

## Whether a text stands alone behind the words, and is the beginning of no option's name.
function yes = stands_alone (name, pairs)
  ## An empty text is the start of every name.
  is_name = @(text) is_text (text) && (isempty (text) || any (strncmpi (fuzz_options (name), text, numel (text))));
  yes = false;
  if (mod (numel (pairs), 2) == 1)
    for i = 1:2:numel (pairs)
      yes = yes || is_text (pairs{i}) && ! is_name (pairs{i}) && (i == numel (pairs) || is_name (pairs{i+1}));
    endfor
  endif
endfunction

## imfilter's words directly behind the filter: how many inputs there are with them, what they say, and whether
## something is said twice, or in the word of another tool. With numbers, one of them is a boundary.
function [inputs, o, twice] = words_behind (a, with_numbers)
  o = struct ();
  twice = false;
  for inputs = 2:numel (a) - 1
    word = a{inputs+1};
    if (is_text (word))
      if (any (strcmpi (word, {"replicate", "symmetric", "mirror", "circular"})))
        field = "Boundary";
      elseif (any (strcmpi (word, {"periodic", "wrap", "nearest", "zero", "constant", "reflect"})))
        field = "Boundary";
        twice = true;
      elseif (any (strcmpi (word, {"same", "full", "valid"})))
        field = "Shape";
      elseif (any (strcmpi (word, {"corr", "conv"})))
        field = "flip";
      else
        return;
      endif
    elseif (with_numbers && ! isempty (real_scalar (word)) && ! isfield (o, "Boundary"))
      field = "Boundary";
    else
      return;
    endif
    twice = twice || isfield (o, field);
    o.(field) = word;
  endfor
  inputs = max (numel (a), 2);
endfunction

## Whether a call is one of all ranks: the last naming of the option decides, wherever it stands behind the first inputs.
function yes = is_joint (name, a, fewest)
  yes = false;
  if (strcmp (name, "ConstantMemoryStudy_CUDA"))
    return;
  endif
  for i = fewest+1:numel (a)
    if (is_text (a{i}) && strcmp (fuzz_meaning (a{i}, name), "Distributed"))
      yes = i == numel (a) || ! (islogical (a{i+1}) && isequal (number (a{i+1}), 0));
    endif
  endfor
endfunction

function id = stencil_inputs (x, k)
  id = "";
  k = listed (k);
  if (! is_float (x) || ! all (cellfun (@(k) is_real (k, "float"), k)))
    id = "dataType";
    return;
  endif
  for i = 1:numel (k)
    if (isempty (k{i}))
      id = "kernelLength";
    elseif (ndims (k{i}) != 2 || ! any (size (k{i}) == 1))
      id = "kernelShape";
    elseif (numel (k{i}) > 8191)
      id = "kernelLength";
    endif
    if (! isempty (id))
      return;
    endif
  endfor
endfunction

## Whether all is double, of an odd number of taps that engines have a way of their own for.
function yes = by_taps (x, k)
  yes = isa (x, "double") && all (cellfun (@(k) isa (k, "double") && mod (numel (k), 2) == 1 && numel (k) <= 21, listed (k)));
endfunction

## The filters of a list, a column; a list of fewer than two, or of more than anyone has, is none.
function k = listed (k)
  if (iscell (k) && numel (k) >= 1 && numel (k) <= 64)
    k = k(:);
  else
    k = {k};
  endif
endfunction

function id = derivative_inputs (f, h = 1)
  id = "";
  if (! is_float (f) || isa (h, "DeviceArray") || ! isnumeric (h) || issparse (h) || ! isreal (h))
    id = "dataType";
  elseif (numel (h) != 1 || ! (h > 0 && h < Inf) || ! isfinite (largest_coefficient (f, double (h))))
    id = "spacing";
  endif
endfunction

## The largest coefficient of the derivative, in the class of f.
function c = largest_coefficient (f, h)
  c = 0.8 / h;
  if (isa (f, "single") || isa (f, "DeviceArray") && strcmp (underlyingType (f), "single"))
    c = single (c);
  endif
endfunction

function id = convolution_inputs (n, f, joint)
  id = "";
  image = is_float (n) || is_real (n, "logical") ...
          || is_real (n, "integer") && ! isa (n, "int64") && ! isa (n, "uint64");
  f = listed (f);
  if (! image || ! all (cellfun (@(f) is_real (f, "float"), f)))
    id = "dataType";
    return;
  endif
  for i = 1:numel (f)
    if (isempty (f{i}))
      id = "filterSize";
    elseif (ndims (f{i}) > 3)
      id = "filterShape";
    elseif (numel (f{i}) > 8191)
      id = "filterSize";
    endif
    if (! isempty (id))
      return;
    endif
  endfor
  if (ndims (n) > 3 && joint)
    id = "imageShape";
  endif
endfunction

## True if the options of more time levels than one go with each other and with the array that is swept. A DeviceArray of one
## element is a number for 'Source'.
function yes = levels_suit (x, held, o)
  yes = false;
  given = isfield (o, {"Previous", "Weight", "Source", "Every"});
  sweeps = 1;
  if (isfield (o, "Iterations"))
    sweeps = double (o.Iterations);
  endif
  if (any (given) && ! isfloat (x) || any (given([1, 3])) && iscomplex (x) || given(1) != given(2) || given(4) && mod (sweeps, double (o.Every)) != 0 ...
      || given(1) && ! is_like (o.Previous, x, held) ...
      || given(3) && isempty (real_scalar (o.Source)) && ! is_like (o.Source, x, held))
    return;
  endif
  yes = true;
endfunction

## True if it is an array of the class and the size of another, in the same place. Beside a DeviceArray it may be an
## ordinary one, too.
function yes = is_like (value, x, held)
  [value, is_held] = fuzz_gathered (value);
  yes = (held || ! is_held) && is_real (value, class (x)) && isequal (size (value), size (x));
endfunction

function yes = suits (option, value)
  switch (option)
    case "Backend"
      yes = is_text (value) && any (strcmpi (value, {"auto", "cuda", "cpu", "fastest"}));
    case "Coefficients"
      yes = is_text (value) && any (strcmpi (value, {"constant", "readonly"}));
    case "Pattern"
      yes = is_text (value) && any (strcmpi (value, {"one_access_per_block", "one_access_per_warp", ...
                                                     "one_access_per_thread", "pseudo_random"}));
    case "Boundary"
      ## What a cell means is asked of the last one alone.
      yes = ! iscell (value) && is_boundary (value) ...
            || iscell (value) && any (numel (value) == 1:64) && all (cellfun (@(side) suits ("Boundary", side), value(:)));
    case "Shape"
      yes = is_text (value) && any (strcmpi (value, {"same", "full", "valid"}));
    case {"Previous", "Source"}
      ## What they must be depends on others: it is asked of the last one alone.
      yes = true;
    case "Weight"
      yes = ! isempty (real_scalar (value));
    case "Dim"
      yes = whole (value, 1, 2 ^ 32 - 1);
      if (! isa (value, "DeviceArray") && isnumeric (value) && ! issparse (value) && isreal (value) ...
          && isvector (value) && numel (value) > 1)
        yes = numel (value) <= 64 && all (arrayfun (@(d) whole (d, 1, 2 ^ 32 - 1), value));
      endif
    case "Device"
      ## One, some, each once, or all.
      yes = whole (value, 1, 2 ^ 32 - 1) || is_text (value) && strcmpi (value, "all");
      if (isa (value, "double") && ! issparse (value) && isreal (value) && numel (value) > 1)
        yes = all (arrayfun (@(d) whole (d, 1, 2 ^ 32 - 1), value(:))) && numel (unique (value(:))) == numel (value);
      endif
    case "Distributed"
      yes = islogical (value) && ! isempty (number (value)) || ! islogical (value) && whole (value, 1, 64);
    case "Every"
      yes = whole (value, 1, 2 ^ 32 - 1);
    case "Iterations"
      yes = whole (value, 0, 2 ^ 32 - 1);
    case "Progress"
      yes = whole (value, 0, 1);
    case "BlockSize"
      yes = whole (value, 32, 1024) && mod (double (value), 32) == 0;
    case {"Sums", "Points", "Threads"}
      yes = whole (value, 1, 2 ^ 28);
    case "Size"
      yes = whole (value, 1, 16384);
    case "Radius"
      yes = whole (value, 1, 7);
  endswitch
endfunction

## A boundary of both ends of a dimension: a number or a word.
function yes = is_boundary (value)
  if (is_text (value))
    yes = any (strcmpi (value, {"replicate", "symmetric", "mirror", "circular"}));
  else
    yes = ! isempty (real_scalar (value));
  endif
endfunction

## A pair of them, where the one goes round if the other does.
function yes = is_pair (value)
  yes = iscell (value) && numel (value) == 2 && all (cellfun (@is_boundary, value(:)));
  if (yes)
    round = cellfun (@(end_of) ischar (end_of) && strcmpi (end_of, "circular"), value(:));
    yes = all (round) || ! any (round);
  endif
endfunction

## Of a line (rank is 0) a pair, or an entry for each of so many filters; of an array of so many dimensions an entry for
## each.
function yes = sides_suit (value, rank, filters)
  if (all (rank == 0) && numel (value) != filters)
    yes = is_pair (value);
  elseif (all (rank == 0))
    yes = all (cellfun (@(side) is_boundary (side) || is_pair (side), value(:)));
  else
    yes = any (numel (value) == rank) && all (cellfun (@(side) is_boundary (side) || is_pair (side), value(:)));
  endif
endfunction

function yes = whole (value, least, most)
  value = number (value);
  yes = ! isempty (value) && value >= least && value <= most && value == fix (value);
endfunction

## A real, full scalar of any numeric class, or a logical one, as a double; [] for anything else.
function value = number (value)
  if (! isa (value, "DeviceArray") && (isnumeric (value) || islogical (value)) && ! issparse (value) && isreal (value) && numel (value) == 1)
    value = double (value);
  else
    value = [];
  endif
endfunction

## As number, also of a DeviceArray.
function value = real_scalar (value)
  value = number (fuzz_gathered (value));
endfunction

function yes = is_text (value)
  yes = ischar (value) && (isempty (value) || (ndims (value) == 2 && rows (value) == 1));
endfunction

## A full array of floats, real or complex.
function yes = is_float (value)
  yes = is_real (value, "float") || is_complex (value);
endfunction

function yes = is_complex (value)
  yes = isa (value, "float") && iscomplex (value) && ! issparse (value);
endfunction

function yes = is_real (value, type)
  yes = ! isa (value, "DeviceArray") && isa (value, type) && isreal (value) && ! issparse (value);
endfunction
