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
  count = numel (inputs);
  for choice = 1:2^count - 1
    on_device = logical (bitget (choice, 1:count));
    if (! all (on_device(held)))
      continue;
    endif
    given = inputs;
    given(on_device) = cellfun (@(x) DeviceArray (x), given(on_device), "UniformOutput", false);
    what = sprintf ("%s of %s", func2str (f), strjoin (cellfun (@literal, inputs, "UniformOutput", false), ", "));
    if (! all (on_device))
      what = sprintf ("%s, with argument %s on the device", what, mat2str (find (on_device)));
    endif
    [got, refused, identifier] = outcome (f, given);
    if (refused && ! failed)
      error ("alike: %s: refused, <%s> %s", what, identifier, got);
    elseif (failed && ! refused)
      error ("alike: %s: no error, and the host says %s", what, want);
    elseif (failed)
      ## What has one element is the host's, and so are errors of what follows. Octave 7 and 11 drop our text of brackets.
      assert (! isempty (regexp ([identifier got], "^DeviceArray:|^Octave:|gather|DeviceArray/.*cat method failed", "once")), "alike: %s: <%s> %s", what, identifier, got);
    else
      compare (got, want, kept, what);
    endif
  endfor
endfunction

## What a call gives, or the text and the identifier of its error.
function [value, failed, identifier] = outcome (f, inputs)
  [failed, identifier] = deal (false, "");
  try
    value = f (inputs{:});
  catch err
    [value, failed, identifier] = deal (err.message, true, err.identifier);
  end_try_catch
endfunction

function compare (got, want, kept, what)
  if (iscell (want))
    assert (size_equal (got, want), "alike: %s: other outputs", what);
    cellfun (@(got, want) compare (got, want, kept, what), got, want);
    return;
  endif
  stayed = isa (got, "DeviceArray");
  [yes, why] = same_bits (gather (got), want);
  assert (yes, "alike: %s: %s", what, why);
  assert (stayed == (kept || numel (want) != 1), "alike: %s: on the device: %d", what, stayed);
  if (stayed)
    assert (isequal (size (got), size (want)) && isUnderlyingType (got, class (want)), ...
            "alike: %s: it says that it is %s %s", what, mat2str (size (got)), underlyingType (got));
  endif
endfunction
