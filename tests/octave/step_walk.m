## -*- texinfo -*-
## @deftypefn {} {} step_walk (@var{seed}, @var{steps})
## Does random things with DeviceArrays, one after the other, then all of them in a step that is recorded: operators, indices,
## assignments, concatenation, reductions.  Both must give arrays of the same classes, sizes and bits, and the same errors.
## What a step cannot have, by its error @code{trace}, ends it; that may only be what asks for values.
##
## The text of a failure tells what was done.
## @end deftypefn

function step_walk (seed, steps)
  rand ("twister", seed);
  arrays = cell (1, 3);
  for k = 1:3
    x = random_array ();
    if (mod (seed, 4) == 0)
      ## So large that kernels have an inside.
      x = repmat (x, random_pick ([1 1], [12 3], [9 2], [20 1]));
      x(:) = x(randperm (numel (x)));
    endif
    arrays{k} = DeviceArray (x);
  endfor
  walk = cell (0, 4);
  [held, results] = deal (arrays, {});
  for step = 1:steps
    [to, a, b] = num2cell (randi (3, 1, 3)){:};
    code = random_code (gather (held{a}), gather (held{b}));
    if (rand () < 0.25)
      code = random_filter ();
    endif
    walk(end+1,:) = {code, to, a, b};
    [held, results] = done (walk(end,:), held, results);
  endfor
  ## An operation that a step cannot have ends the walk before it.
  while (! isempty (walk))
    [all, found] = recorded (walk, arrays, results);
    if (! strcmp (found{end}.told, "trace"))
      break;
    endif
    [k, text] = deal (numel (found), found{end}.text);
    asks = "a\\(a |a\\(b >|a\\(!|any \\(a > 1, 1\\)|x\\(x |find|sort|cumsum|[[]\\]$|isequal|^double \\(";
    assert (! isempty (regexp (walk{k,1}, asks)) || is_into_truths (text, walk{k,1}), "%s is <%s>", program (seed, walk, k), ...
            text);
    [walk, results] = deal (walk(1:k-1,:), results(1:k-1));
  endwhile
  ## Ordinary numbers here are arrays like the others there, and none of the host's arrays takes them.
  refused = {"no conversion for assignment of 'DeviceArray", "no conversion for assignment of 'object", ...
             "cannot be put into an ordinary array", "cannot be an index of an ordinary array", "(<object>)", ...
             "expected an array like", "cannot merge"};
  for k = 1:rows (walk)
    [want, got] = deal (results{k}, found{k});
    if (any (cellfun (@(text) ! isempty (strfind ([got.text want.text], text)), refused)))
      return;
    endif
    both_failed = ! isempty (got.text) && ! isempty (want.text) && ! strcmp (got.told, "internal");
    assert (both_failed || strcmp (got.told, want.told), "%s: %s %s where %s %s is due", program (seed, walk, k), got.told, ...
            got.text, want.told, want.text);
    values = double (gather (want.value)(:));
    [yes, why] = same_bits (all(1:numel (values))(:), values);
    assert (yes, "%s: %s", program (seed, walk, k), why);
    all(1:numel (values)) = [];
  endfor
endfunction

## All that is done, in a step of its own: all numbers in one column, and what came of each thing. Where a step cannot have
## one, also if it is caught, there is the error `trace`.
function [all, found] = recorded (walk, arrays, results)
  len = sum (cellfun (@(one) numel (one.value), results));
  log = containers.Map ();
  step = @(all, varargin) replay (walk, log, all, varargin{:});
  all = [];
  try
    [all, ~] = DeviceArray.iterate (step, 1, DeviceArray (zeros (len, 1)), arrays{:}, "States", 4);
    refused = false;
  catch err
    if (! strcmp (err.identifier, "DeviceArray:trace"))
      rethrow (err);
    endif
    refused = true;
  end_try_catch
  found = log("results");
  assert (strcmp (found{end}.told, "trace"), refused);
  all = gather (all);
endfunction

## One of the three functions, with options; of any array, so that many are errors.
function code = random_filter ()
  boundary = random_pick ("", ", 'circular'", ", 'replicate'", ", 'Boundary', {'mirror', 2}", ", 'Boundary', 'symmetric'", ...
                          ", 'Boundary', -1.5");
  along = [boundary random_pick("", "", ", 'Dim', 1", ", 'Dim', 2", ", 'Dim', 3")];
  switch (randi (5))
    case 1
      taps = random_pick ("[1 -2 1]", "[0.5; 0.25]", "3", "(1:7) / 16", "[1e-3 0 NaN]", "ones (1, 25)");
      code = ["StencilConstantMemory_CUDA (a, " taps along ")"];
    case 2
      taps = random_pick ("[1 4 1; 4 -20 4; 1 4 1] / 6", "[0 1; 2 -1]", "ones (1, 4)", "single ([1; 2; 1])", "reshape ((1:18) / 8 - 1, 3, 3, 2)", ...
                          "ones (11, 12)");
      code = ["ConvolutionConstantMemory_CUDA (a, " taps boundary random_pick("", "", ", 'conv'", ", 'valid'", ", 'full'") ")"];
    case 3
      code = ["DerivativeConstantMemory_CUDA (a, " random_pick("0.5", "2") along ")"];
    case 4
      code = random_pick ("StencilConstantMemory_CUDA (a, {[1 2 1] / 4, [1 0 -1]}, 'Dim', {1, 2})", ...
                          "ConvolutionConstantMemory_CUDA (a, {ones(3, 1), [1 2 1]}, 'replicate')", ...
                          "StencilConstantMemory_CUDA (a, [1 2 1] / 4, 'Iterations', 3)", ...
                          "ConvolutionConstantMemory_CUDA (a, [0 1 0; 1 -4 1; 0 1 0], 'Iterations', 2, 'circular')");
    case 5
      code = random_pick ("ConvolutionConstantMemory_CUDA (a, [1 2 1], 'Previous', b, 'Weight', -1)", ...
                          "StencilConstantMemory_CUDA (a, [1 -2 1], 'Source', b)", ...
                          "StencilConstantMemory_CUDA (a, [1 -2 1], 'Source', 0.5, 'Iterations', 2, 'Every', 1)", ...
                          "a - 0.1 * DerivativeConstantMemory_CUDA (abs (a) + b, 1, 'circular')", ...
                          "sqrt (ConvolutionConstantMemory_CUDA (a .* a, [1; 1]) + 1)");
  endswitch
endfunction

function text = program (seed, walk, k)
  lines = cellfun (@(code, to, a, b) sprintf ("%d = {%s} of %d, %d", to, code, a, b), walk(1:k,1), walk(1:k,2), walk(1:k,3), ...
                   walk(1:k,4), "UniformOutput", false);
  text = sprintf ("step_walk: seed %d: %s", seed, strjoin (lines', "; "));
endfunction

## True for numbers that should become truth values: one of them may be NaN, which is not known yet.
function yes = is_into_truths (text, code)
  yes = ! isempty (strfind (text, "A reduction asks")) && code(1) == "x";
endfunction

## One thing that is done: the arrays then, and what came of it.
function [held, results] = done (what, held, results)
  [code, to, a, b] = what{:};
  try
    value = run_code (code, held{a}, held{b});
    ## Larger ones take long, complex ones are not there.
    if (isreal (value) && numel (value) <= 2000 && ! ischar (value))
      held{to} = value;
    else
      value = 0;
    endif
    results{end+1} = struct ("told", told (value), "text", "", "value", value);
  catch err
    kind = regexp (err.identifier, "[^:]*$", "match", "once");
    results{end+1} = struct ("told", kind, "text", err.message, "value", []);
  end_try_catch
endfunction

## The class and the size of an array, wherever it lies.
function text = told (value)
  if (isa (value, "DeviceArray"))
    name = underlyingType (value);
  else
    name = class (value);
  endif
  text = [name " " mat2str(size (value))];
endfunction

## The step: all that comes of it in one column.
function varargout = replay (walk, log, all, varargin)
  [held, results] = deal (varargin, {});
  for k = 1:rows (walk)
    [held, results] = done (walk(k,:), held, results);
    if (strcmp (results{end}.told, "trace"))
      break;
    endif
  endfor
  len = numel (all);
  for k = 1:numel (results)
    all = [all; double(results{k}.value(:))];
  endfor
  log("results") = results;
  all = [all(len+1:end); zeros(len, 1)];
  varargout = [{all(1:len)}, varargin];
endfunction
