## -*- texinfo -*-
## @deftypefn {} {[@var{id}, @var{o}] =} fuzz_identifier (@var{name}, @var{a}, @var{nout}, @var{env}, @var{world})
## The last part of the identifier that function @var{name} must raise when it is
## called with the inputs in the cell array @var{a} and @var{nout} outputs, or ""
## where it must succeed: the contract's checks, in the contract's order.
##
## @var{env} tells what the environment says: its field backend is "auto",
## "cuda" or "cpu", and bad is true where a variable makes no sense.
## @code{@var{world}.devices} is the number of usable devices.  @var{o} is a struct
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

  twice = false;
  if (strcmp (name, "ConvolutionConstantMemory_CUDA"))
    [inputs, o, twice] = words_behind (a);
  endif
  said = fieldnames (o);

  id = "numberOfInputs";
  if (numel (a) < fewest || mod (numel (a) - inputs, 2) != 0)
    return;
  endif
  for i = inputs+1:2:numel (a)
    if (! is_text (a{i}))
      return;
    endif
  endfor
  id = "numberOfOutputs";
  if (nout > 1)
    return;
  endif

  switch (name)
    case "StencilConstantMemory_CUDA"
      id = stencil_inputs (a{1:2});
    case "DerivativeConstantMemory_CUDA"
      id = derivative_inputs (a{1:inputs});
    case "ConvolutionConstantMemory_CUDA"
      id = convolution_inputs (a{1:2});
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
  names = fuzz_options (name, study);
  rank = 0;
  if (strcmp (name, "ConvolutionConstantMemory_CUDA"))
    rank = ndims (a{1});
  endif
  for i = inputs+1:2:numel (a)
    given = a{i};
    n = numel (given);
    ## An empty text is the start of every name.
    if (n == 0)
      return;
    endif
    found = names(strncmpi (names, given, n));
    if (numel (found) != 1 || n > numel (found{1}) || ! suits (found{1}, a{i+1}) || any (strcmp (said, found{1})))
      return;
    endif
    o.(found{1}) = a{i+1};
  endfor
  if (isfield (o, "Boundary") && iscell (o.Boundary) && ! sides_suit (o.Boundary, rank))
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
    wants = true;
  endif
  if (wants && device > world.devices)
    id = "noDevice";
  endif
endfunction

## imfilter's words directly behind the filter: how many inputs there are with them, what they say, and whether
## something is said twice, or in the word of another tool.
function [inputs, o, twice] = words_behind (a)
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
    elseif (! isempty (number (word)) && ! isfield (o, "Boundary"))
      field = "Boundary";
    else
      return;
    endif
    twice = twice || isfield (o, field);
    o.(field) = word;
  endfor
  inputs = max (numel (a), 2);
endfunction

function id = stencil_inputs (x, k)
  id = "";
  if (! is_real (x, "double") || ! is_real (k, "double"))
    id = "dataType";
  elseif (isempty (k))
    id = "kernelLength";
  elseif (ndims (k) != 2 || ! any (size (k) == 1))
    id = "kernelShape";
  elseif (mod (numel (k), 2) == 0 || numel (k) > 21)
    id = "kernelLength";
  endif
endfunction

function id = derivative_inputs (f, h = 1)
  id = "";
  if (! is_real (f, "float") || ! isnumeric (h) || issparse (h) || ! isreal (h))
    id = "dataType";
  elseif (numel (h) != 1 || ! (h > 0 && h < Inf))
    id = "spacing";
  endif
endfunction

function id = convolution_inputs (n, f)
  id = "";
  image = is_real (n, "float") || is_real (n, "logical") ...
          || is_real (n, "integer") && ! isa (n, "int64") && ! isa (n, "uint64");
  if (! image || ! is_real (f, "float"))
    id = "dataType";
  elseif (ndims (n) > 3)
    id = "imageShape";
  elseif (isempty (f))
    id = "filterSize";
  elseif (ndims (f) > 3)
    id = "filterShape";
  elseif (any (mod (size (f), 2) == 0) || any (size (f) > 15 - 8 * (ndims (f) == 3)))
    id = "filterSize";
  endif
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
            || iscell (value) && ! isempty (value) && all (cellfun (@(side) suits ("Boundary", side), value(:)));
    case "Shape"
      yes = is_text (value) && any (strcmpi (value, {"same", "full", "valid"}));
    case {"Device", "Dim"}
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
    yes = ! isempty (number (value));
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

## Of a line a pair (rank is 0), of an array of so many dimensions an entry for each.
function yes = sides_suit (value, rank)
  if (rank == 0)
    yes = is_pair (value);
  else
    yes = numel (value) == rank && all (cellfun (@(side) is_boundary (side) || is_pair (side), value(:)));
  endif
endfunction

function yes = whole (value, least, most)
  value = number (value);
  yes = ! isempty (value) && value >= least && value <= most && value == fix (value);
endfunction

## A real, full scalar of any numeric class, or a logical one, as a double; [] for anything else.
function value = number (value)
  if ((isnumeric (value) || islogical (value)) && ! issparse (value) && isreal (value) && numel (value) == 1)
    value = double (value);
  else
    value = [];
  endif
endfunction

function yes = is_text (value)
  yes = ischar (value) && (isempty (value) || (ndims (value) == 2 && rows (value) == 1));
endfunction

function yes = is_real (value, type)
  yes = isa (value, type) && isreal (value) && ! issparse (value);
endfunction
