## -*- texinfo -*-
## @deftypefn {} {} agrees_with (@var{reference}, @var{name}, @var{arguments})
## Calls function @var{name} with the arguments in the cell array
## @var{arguments} and raises unless the result equals, to the bit, that of
## @var{reference}, and unless all its inputs are unchanged.
## @end deftypefn

function agrees_with (reference, name, arguments)
  inputs = arguments(cellfun (@isnumeric, arguments));
  ## As bits, since == ignores the sign of a zero, and a NaN is not equal to
  ## itself; typecast also copies, so that no write to an input can reach these.
  before = cellfun (@fingerprint, inputs, "UniformOutput", false);
  y = feval (name, arguments{:});
  want = reference (arguments{:});
  [yes, why] = same_bits (y, want);
  what = sprintf ("%s of %s", name, strjoin (cellfun (@told, arguments, "UniformOutput", false), ", "));
  if (! yes)
    error ("agrees_with: %s: %s", what, why);
  endif
  if (! isequal (cellfun (@fingerprint, inputs, "UniformOutput", false), before))
    error ("agrees_with: %s: an input was written to", what);
  endif
endfunction

function bytes = fingerprint (v)
  bytes = typecast ([real(full (v))(:); imag(full (v))(:)], "uint8");
endfunction

function text = told (v)
  if (ischar (v) || isscalar (v))
    text = disp (v)(1:end-1);
    return;
  endif
  text = sprintf ("%s %s", strjoin (strsplit (num2str (size (v))), "x"), class (v));
endfunction
