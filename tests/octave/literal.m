## -*- texinfo -*-
## @deftypefn {} {@var{text} =} literal (@var{x})
## An expression whose value is @var{x}, an array of numbers, truth values or
## characters, with its size and class.
## @end deftypefn

function text = literal (x)
  if (ischar (x))
    text = ["\"" x "\""];
    return;
  elseif (! (isnumeric (x) || islogical (x)))
    text = ["a " class(x)];
    return;
  endif
  if (isempty (x))
    text = sprintf ("zeros (%s)", mat2str (size (x)));
  elseif (ndims (x) > 2)
    text = sprintf ("reshape (%s, %s)", mat2str (double (x(:).'), 17), mat2str (size (x)));
  else
    text = mat2str (double (x), 17);
  endif
  if (! isa (x, "double"))
    text = sprintf ("%s (%s)", class (x), text);
  endif
endfunction
