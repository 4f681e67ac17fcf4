## -*- texinfo -*-
## @deftypefn {} {@var{text} =} fails (@var{name}, @var{id}, @var{args}, @var{nout})
## Calls function @var{name} with the arguments in the cell array @var{args} and
## @var{nout} outputs (1 if not given).  Raises unless that fails under the
## function's prefix and @var{id}, with the opening words that belong to the
## identifier and something after them, and unless an ordinary call of it (for
## ConstantMemoryDevice_CUDA one of the stencil) works right after.  @var{id} may
## be a cell array where the contract leaves a choice.
## @var{text} is the error's text, without the name the host puts before it.
## @end deftypefn

function text = fails (name, id, args, nout = 1)
  persistent openings = struct ( ...
    "numberOfInputs", "Number of Inputs are Wrong", ...
    "numberOfOutputs", "Number of Outputs are Wrong", ...
    "dataType", "One of the Inputs are of the wrong data-type");
  c = [4/5, -1/5, 4/105, -1/280];
  persistent ordinary = {
    "StencilConstantMemory_CUDA",     {[1 2 3], [1 1 1]}, [3 6 5]
    "DerivativeConstantMemory_CUDA",  {[0 0 0 0 1 0 0 0 0]}, [fliplr(c), 0, -c]
    "ConvolutionConstantMemory_CUDA", {[1 2 3], [1; 2; 3]}, [2 4 6]
    };

  caught = [];
  try
    if (nout == 0)
      feval (name, args{:});
    else
      out = cell (1, nout);
      [out{:}] = feval (name, args{:});
    endif
  catch caught
  end_try_catch

  what = sprintf ("fails: %s with %d inputs and %d outputs", name, numel (args), nout);
  prefix = [strrep(name, "_CUDA", ""), ":"];
  expected = strjoin (strcat (prefix, cellstr (id)), " or ");
  if (isempty (caught))
    error ("%s: no error, expected %s", what, expected);
  endif
  if (! any (strcmp (caught.identifier, strcat (prefix, cellstr (id)))))
    error ("%s: expected %s, got <%s> %s", what, expected, caught.identifier, caught.message);
  endif

  text = regexprep (caught.message, ['^' name ': '], "");
  opening = "";
  short_id = caught.identifier(numel (prefix)+1:end);
  if (isfield (openings, short_id))
    opening = openings.(short_id);
  endif
  if (! isempty (opening) && ! strncmp (text, opening, numel (opening)))
    error ("%s: the text should begin with <%s>, got <%s>", what, opening, text);
  endif
  ## The received and the expected value need at least this.
  if (numel (text) < numel (opening) + 12)
    error ("%s: the text says too little: <%s>", what, text);
  endif

  i = find ([strcmp(ordinary(:,1), name); true], 1);
  [next, args, want] = ordinary{1 + mod (i - 1, rows (ordinary)),:};
  [yes, why] = same_bits (feval (next, args{:}), want);
  if (! yes)
    error ("%s: the call after the error is wrong: %s", what, why);
  endif
endfunction
