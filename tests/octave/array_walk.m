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
    plain{k} = random_array (random_class (), random_size ());
    held{k} = DeviceArray (plain{k});
  endfor
  for step = 1:steps
    [to, a, b] = num2cell (randi (3, 1, 3)){:};
    [code, tolerance] = random_step (plain{a}, plain{b});
    ## Of an operator one operand may be ordinary.
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

## What the code makes of the arrays: of x, where it assigns to it. Or its error's text.
function [value, failed] = outcome (code, a, b)
  x = a;
  failed = false;
  try
    if (isempty (strfind (code, "x")))
      eval (["value = " code ";"]);
    else
      eval ([code ";"]);
      value = x;
    endif
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

function name = pick (varargin)
  name = varargin{randi(numel (varargin))};
endfunction

function name = random_class ()
  name = pick ("double", "double", "double", "single", "single", "logical", "int8", "uint8", "int16", "uint16", "int32", "uint32");
endfunction

function sizes = random_size ()
  switch (randi (8))
    case {1, 2, 3}
      sizes = randi ([1 5], 1, 2);
    case 4
      sizes = [1, randi([0 7])];
    case 5
      sizes = [randi([0 7]), 1];
    case 6
      sizes = [1 1];
    case 7
      sizes = randi ([1 3], 1, 3);
    case 8
      sizes = randi ([0 3], 1, 2);
  endswitch
endfunction

function x = random_array (name, sizes)
  switch (name)
    case "logical"
      x = rand (sizes) > 0.5;
    case {"double", "single"}
      switch (randi (3))
        case 1
          x = randi ([-5 9], sizes);
        case 2
          x = round (64 * randn_ (sizes)) / 16;
        case 3
          x = randn_ (sizes);
      endswitch
      x = cast (x, name);
      if (rand () < 0.15)
        x(rand (sizes) < 0.3) = pick (NaN, Inf, -Inf, -0);
      endif
    otherwise
      x = cast (randi ([-150 300], sizes), name);
  endswitch
endfunction

## From the generator that is seeded here.
function x = randn_ (sizes)
  x = rand (sizes) + rand (sizes) + rand (sizes) - 1.5;
endfunction

function text = random_number ()
  text = pick ("2", "-1", "0", "0.5", "-3.25", "7", "single (1.5)", "true", "100", "1e-3", "[]", "NaN", "Inf", "-0");
endfunction

## An index into so many places.
function text = random_index (extent)
  last = max (extent, 1);
  switch (randi (14))
    case {1, 2}
      text = sprintf ("%d", randi (last));
    case {3, 4, 5}
      text = ":";
    case 6
      text = sprintf ("%d:%d", sort (randi (last, 1, 2)));
    case 7
      text = "end";
    case 8
      text = mat2str (randi (last, 1, randi ([1 4])));
    case 9
      text = mat2str (rand (1, extent) > 0.5);
    case 10
      text = "end:-1:1";
    case 11
      text = sprintf ("[%d; %d]", randi (last, 1, 2));
    case 12
      text = pick ("[]", "zeros (1, 0)", "1:0", "2:end", "1:2:end", "1:end-1", "int8 (1)", "single ([1 1])");
    case 13
      text = sprintf ("%d", extent + pick (0, 1, 2));
    case 14
      text = mat2str (reshape (randi (last, 1, 4), 2, 2));
  endswitch
endfunction

function text = random_indices (x)
  switch (randi (6))
    case {1, 2}
      text = random_index (numel (x));
    case {3, 4, 5}
      text = [random_index(rows (x)) "," random_index(prod (size (x)(2:end)))];
    case 6
      text = [random_index(rows (x)) "," random_index(columns (x)) "," random_index(size (x, 3))];
  endswitch
endfunction

## The code of a step, of arrays a and b, which assigns to x, a copy of a, or is an expression.
function [code, tolerance] = random_step (a, b)
  tolerance = 0;
  dim = sprintf ("%d", randi (3));
  comparison = pick ("<", "<=", ">", ">=", "==", "!=");
  nothing = isempty (a) || isempty (b);
  switch (randi (22))
    case {1, 2}
      code = ["a " pick("+", "-", ".*", "./", ".\\") " b"];
    case 3
      code = ["a " comparison " b"];
    case 4
      code = ["(a " comparison " 1) " pick("&", "|") " (b " pick("<", "!=") " 2)"];
    case 5
      number = random_number ();
      code = pick (["a " pick("+", "-", ".*", "./", comparison) " " number], [number " " pick("+", "-", ".*", "./", comparison) " a"]);
    case 6
      code = [pick("-a", "abs (a)", "! (a > 0)", "isnan (a)", "isinf (a)", "isfinite (a)", "sqrt (abs (a))", "floor (a)", "ceil (a)", ...
                   "round (a)", "fix (a)", "sign (a)", "+a", "real (a)", "a .^ 2", "a .^ 3", "a .^ -1", "xor (a > 0, b > 0)", ...
                   "mod (a, 3)", "rem (a, 3)", "max (a, b)", "min (a, b)", "max (a, 1)", "min (2, a)")];
      ## The host has no remainders of truth values.
      if (islogical (a))
        code = regexprep (code, "^(mod|rem) \\(a", "$1 (double (a)");
      endif
      ## Of a number the host takes powers another way than of an array.
      if (any (code == "^") && isfloat (a))
        tolerance = 1e-14;
      endif
    case 7
      code = sprintf (pick ("%s (a)", "cast (a, \"%s\")"), random_class ());
      if (! isempty (strfind (code, "logical")))
        code = "logical (a > 0)";
      endif
    case {8, 9}
      code = ["a(" random_indices(a) ")"];
    case 10
      code = pick (["a(a " comparison " 1)"], "a(b > 0)", "a(:,any (a > 1, 1))", "a(:)", "a(:,:)", "a(end:-1:1,:)", "a(!(a < 2))");
    case {11, 12}
      indices = random_indices (a);
      value = pick (random_number (), random_number (), "b", "a", "b(:)", "b(1)", "x", "b'");
      ## Of truth values, singles alone make doubles of all; and the host has rules of its own for no places of three
      ## dimensions.
      if (nothing || islogical (a) && (isa (b, "single") || strcmp (value, "single (1.5)")) || sum (indices == ",") > 1)
        value = "7";
      endif
      ## Of a matrix the host takes a list in order for another thing than a range.
      if (strcmp (value, "[]") && ! any (indices == ",") && ! isvector (a))
        value = "7";
      endif
      code = ["x(" indices ") = " value];
    case 13
      code = pick (["x(x " comparison " 1) = " pick("7", "-2", "x(1)")], "x(x > 1) += 1", "x(:) = double (b)", "x(1,:) .*= 2", {"x(end+1,:) = 3", "x(1) = 3"}{1 + (ndims (a) > 2)}, ...
                   "x(end+1) = 5", "x(:,end+1) = double (b(:,1))", "x(:,1) -= 1", "x += b", "x .*= 2", "x(:) = 0");
    case 14
      code = ["x(" random_index(rows (a)) "," random_index(prod (size (a)(2:end))) ") = []"];
      if (isvector (a) && numel (a) > 1)
        code = ["x(" random_index(numel (a)) ") = []"];
      endif
    case 15
      code = pick ("[a, b]", "[a; b]", "[a, a]", "[a; a; a]", "[a, 1]", "[2; a(:)]", "cat (3, a, a)", "[a, b; a, b]", "[]", "[a]");
      ## Two kinds of nothing make other sizes in each way of joining them.
      if (strcmp (code, "[]") || nothing && any (code == "b"))
        code = "[a, []]";
      endif
    case 16
      a_page = {"a", "a(:,:)"}{1 + (ndims (a) > 2)};
      code = pick ("a.'", "a'", "a(:).'", "reshape (a, [], 1)", "reshape (a, 1, [])", "squeeze (a)", ["flip (a, " dim ")"], "flip (a)", "fliplr (a)", ...
                   "flipud (a)", ["rot90 (" a_page ")"], ["rot90 (" a_page ", 2)"], ["rot90 (" a_page ", -1)"], "permute (a, [2 1 3])", "permute (a, [3 1 2])", "permute (a, [2 3 1])", ...
                   "repmat (a, 2, 1)", "repmat (a, [1 2 2])", "repmat (a, 0, 1)", "circshift (a, 1)", "circshift (a, -2, 2)", "triu (a(:,:))", ...
                   "tril (a(:,:), -1)", "vec (a)", "ipermute (a, [2 3 1])");
    case {17, 18}
      code = pick ("sum (a)", "sum (a, %s)", "any (a > 0)", "any (a > 1, %s)", "all (a > 0)", "all (a != 0, %s)", "max (a)", "min (a)", ...
                   "max (a, [], %s)", "min (a, [], %s)", "sum (a(:))", "max (a(:))", "sumsq (a)", "sumsq (a, %s)", "prod (a)", "prod (a, %s)", ...
                   "cumsum (a)", "cumsum (a, %s)", "nnz (a > 0)", "mean (a)", "mean (a, %s)", "diff (a)", "dot (a(:), a(:))", "sum (a > 0)", ...
                   "sum (a > 0, %s)");
      code = strrep (code, "%s", dim);
      ## Of truth values and of integers the host has other rules, and others for differences of what is empty.
      if (! isfloat (a) && ! isempty (regexp (code, "dot|sumsq|mean")) || isempty (a) && ! isempty (regexp (code, "diff|mean|max|min")))
        code = "sum (a)";
      endif
      ## Of running sums of integers and of 0 x 0 along a dimension each version has its own.
      if (isinteger (a) && strncmp (code, "cumsum", 6) || ! any (size (a)) && ! isempty (regexp (code, ", \\d\\)$")))
        code = "sum (a)";
      endif
      if (isempty (regexp (code, "any|all|max|min|nnz|diff|>", "once")) && isfloat (a))
        tolerance = 1e-14;
      endif
    case 19
      code = pick ("find (a)", "find (a > 1)", "find (a, 2)", "sort (a)", "sort (a, 2)", "sort (a, \"descend\")", "sort (a(:))", "find (a(:) > 0)", ...
                   "sort (a, 1)");
      ## Of nothing the host finds a row or a column by the class.
      if (isempty (a))
        code = "sort (a)";
      endif
    case 20
      code = pick ("a * 2", "2 * a", "a / 4", "2 \\ a", "a * true", "a * single (0.5)", "(a + 1) .* a", "a - a", "-a + b .* 2", "a .* (b > 0)");
    case 21
      code = pick ("zeros (size (a), \"like\", a)", "ones (2, 3, \"like\", a)", "a()", "double (a)(:)", "abs (a)(1:end)", "(a > 0)(:,:)", "a + a.'", ...
                   "a(1,:) + a(:,1)", "a(:) .* a(:)", "[a(:); b(:)]");
    case 22
      code = pick ("size (a)", "numel (a)", "isempty (a)", "ndims (a)", "columns (a)", "isequal (a, b)", "isequal (a, a)", "isrow (a)", "isreal (a)");
      code = ["double (" code ")(1)"];
  endswitch
endfunction
