## -*- texinfo -*-
## @deftypefn {} {} array_walk (@var{seed}, @var{steps})
## Takes random steps with pairs of an ordinary array and a DeviceArray: operators,
## indices, assignments, concatenation, reductions.  After each step both must have the
## same values, size and class: the same bits, but for sums of real numbers.  An
## error of the one must be one of the other.  All arrays but the one that was assigned to must stay as they are.
##
## The text of a failure is a program that shows it.
## @end deftypefn

function array_walk (seed, steps)
  rand ("twister", seed);
  plain = held = cell (1, 3);
  for k = 1:3
    plain{k} = random_array ();
    held{k} = DeviceArray (plain{k});
  endfor
  for step = 1:steps
    [to, a, b] = num2cell (randi (3, 1, 3)){:};
    [code, tolerance] = random_code (plain{a}, plain{b});
    ## One operand of an operator may be ordinary.
    on_device = {held{a}, held{b}};
    which = randi (4);
    if (! isempty (regexp (code, "^a [^ ]+ b$|^\\[a[,;] b\\]$")) && which < 3 || ! isempty (regexp (code, "= b$|^a\\(b|^(max|min) \\(a, b")) && which == 2)
      on_device{which} = {plain{a}, plain{b}}{which};
    endif
    [want, failed] = outcome (code, plain{a}, plain{b});
    [got, refused] = outcome (code, on_device{:});
    trouble = "";
    if (failed != refused)
      trouble = sprintf ("the host says <%s>, the device <%s>", told (want, failed), told (got, refused));
    elseif (! failed)
      ## Numbers on the way make ordinary arrays.
      chained = ! isempty (regexp (code, "\\)\\(|\\(:\\)[;,] |; a\\(:\\)|\\(1,:\\)|find")) && (numel (plain{a}) == 1 || isempty (strfind (code, "find")));
      trouble = difference (got, want, tolerance, chained);
    endif
    if (! isempty (trouble))
      error ("array_walk: seed %d, step %d: a = %s; b = %s; %s: %s", seed, step, program (plain{a}, on_device{1}), ...
             program (plain{b}, on_device{2}), code, trouble);
    endif
    if (! failed && isreal (want) && numel (want) <= 200)
      plain{to} = want;
      held{to} = got;
      if (! isa (got, "DeviceArray"))
        held{to} = DeviceArray (got);
      endif
    endif
    ## Sums may round otherwise: from here on both have the same again.
    if (tolerance > 0)
      plain{to} = gather (held{to});
    endif
  endfor
  for k = 1:3
    [yes, why] = same_bits (gather (held{k}), plain{k});
    assert (yes, "array_walk: seed %d: another step has changed an array: %s", seed, why);
  endfor
endfunction

## Returns the code's result for the arrays, or the text of an error.
function [value, failed] = outcome (code, a, b)
  failed = false;
  try
    value = run_code (code, a, b);
  catch err
    [value, failed] = deal (err.message, true);
  end_try_catch
endfunction

function text = difference (got, want, tolerance, chained)
  text = "";
  if (isa (got, "DeviceArray"))
    if (! isequal (size (got), size (want)) || ! isUnderlyingType (got, class (want)))
      text = sprintf ("%s %s on the device against %s %s", underlyingType (got), mat2str (size (got)), class (want), ...
                      mat2str (size (want)));
      return;
    endif
  elseif (numel (want) != 1 && ! chained)
    text = sprintf ("%s is not on the device", literal (got));
    return;
  endif
  got = gather (got);
  if (tolerance > 0 && strcmp (class (got), class (want)) && isequal (size (got), size (want)) && isfloat (got))
    bound = tolerance;
    if (isa (got, "single"))
      bound = 1e9 * tolerance;
    endif
    off = abs (got - want) > bound * max (1, abs (want)) & got != want;
    if (any (off(:)) || ! isequal (isnan (got), isnan (want)))
      text = sprintf ("%s against %s", literal (got), literal (want));
    endif
    return;
  endif
  [yes, why] = same_bits (got, want);
  if (! yes)
    text = sprintf ("%s against %s: %s", literal (got), literal (want), why);
  endif
endfunction

function text = told (value, failed)
  text = value;
  if (! failed)
    text = literal (gather (value));
  endif
endfunction

function text = program (plain, given)
  text = literal (plain);
  if (isa (given, "DeviceArray"))
    text = ["DeviceArray (" text ")"];
  endif
endfunction
