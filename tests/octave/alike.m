## -*- texinfo -*-
## @deftypefn {} {} alike (@var{f}, @var{inputs}, @var{kept}, @var{held})
## Raises unless function @var{f} does the same with DeviceArrays as with the
## ordinary arrays in the cell array @var{inputs}: the same values, to the bit, of one
## size and class, or an error of ours where the host has one.  Each choice of inputs lies on the device
## in turn, always with that of number @var{held} if it is given.  A result of one element is an ordinary number, all else stays a
## DeviceArray, and with @var{kept} what has one element does, too.  Results in
## a cell are compared one by one.
## @end deftypefn

function alike (f, inputs, kept = false, held = [])
  [want, failed] = outcome (f, inputs);
  if (failed && ! isempty (regexp (want, "' undefined$", "once")))
    error ("alike: %s: %s", func2str (f), want);
  endif
  count = numel (inputs);
  for choice = 1:2^count - 1
    on_device = logical (bitget (choice, 1:count));
    if (! all (on_device(held)))
      continue;
    endif
    given = inputs;
    given(on_device) = cellfun (@(x) DeviceArray (x), given(on_device), "UniformOutput", false);
    [got, refused, identifier] = outcome (f, given);
    why = "";
    if (refused && ! failed)
      why = sprintf ("refused, <%s> %s", identifier, got);
    elseif (failed && ! refused)
      why = sprintf ("no error, and the host says %s", want);
    elseif (! failed)
      why = difference (got, want, kept);
    ## A single element is the host's number, so later errors are the host's; so are those of reshape's sizes. Octave drops
    ## our text of brackets for an object of the class.
    elseif (isempty (regexp ([identifier got], ["^DeviceArray:|^Octave:|gather|^reshape: |" ...
                                                ifelse(own_type (), "^$", "DeviceArray/.*cat method failed")], "once")))
      why = sprintf ("<%s> %s", identifier, got);
    endif
    ## Texts take longer than most calls: they are made of failures alone.
    if (! isempty (why))
      what = sprintf ("%s of %s", func2str (f), strjoin (cellfun (@literal, inputs, "UniformOutput", false), ", "));
      error ("alike: %s, with argument %s on the device: %s", what, mat2str (find (on_device)), why);
    endif
  endfor
endfunction

## Returns the value of a call, or the text and the identifier of its error.
function [value, failed, identifier] = outcome (f, inputs)
  [failed, identifier] = deal (false, "");
  try
    value = f (inputs{:});
  catch err
    [value, failed, identifier] = deal (err.message, true, err.identifier);
  end_try_catch
endfunction

## Describes how a result differs from the expected one; empty if they are
## equal.
function why = difference (got, want, kept)
  why = "";
  if (iscell (want))
    if (! size_equal (got, want))
      why = "other outputs";
    endif
    for i = 1:numel (want) * isempty (why)
      why = [why, difference(got{i}, want{i}, kept)];
    endfor
    return;
  endif
  stayed = isa (got, "DeviceArray");
  [yes, why] = same_bits (gather (got), want);
  if (yes && stayed != (kept || numel (want) != 1))
    why = sprintf ("on the device: %d", stayed);
  elseif (yes && stayed && ! (isequal (size (got), size (want)) && isUnderlyingType (got, class (want))))
    why = sprintf ("it says that it is %s %s", mat2str (size (got)), underlyingType (got));
  endif
endfunction
