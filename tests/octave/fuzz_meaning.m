## -*- texinfo -*-
## @deftypefn {} {@var{option} =} fuzz_meaning (@var{given}, @var{name}, @var{study})
## The option of function @var{name} that the text @var{given} names or abbreviates; "" where
## it is none, or ambiguous among names that came at the same time.
## @end deftypefn

function option = fuzz_meaning (given, name, study = "")
  option = "";
  [names, since] = fuzz_options (name, study);
  n = numel (given);
  ## An empty text is the start of every name.
  if (n == 0)
    return;
  endif
  meant = strncmpi (names, given, n) & cellfun (@numel, names) >= n;
  if (any (meant))
    ## What came later leaves what was meant before alone.
    meant &= since == min (since(meant));
    if (nnz (meant) == 1)
      option = names{meant};
    endif
  endif
endfunction
