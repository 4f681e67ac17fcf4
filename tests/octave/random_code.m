## -*- texinfo -*-
## @deftypefn {} {[@var{code}, @var{tolerance}] =} random_code (@var{a}, @var{b})
## The code of something that is done with arrays @code{a} and @code{b} of the sizes and classes of @var{a} and @var{b}: it
## assigns to @code{x}, a copy of @code{a}, or is an expression.  Results may be off by @var{tolerance}.
## @end deftypefn

function [code, tolerance] = random_code (a, b)
  tolerance = 0;
  dim = sprintf ("%d", randi (3));
  comparison = random_pick ("<", "<=", ">", ">=", "==", "!=");
  nothing = isempty (a) || isempty (b);
  switch (randi (22))
    case {1, 2}
      code = ["a " random_pick("+", "-", ".*", "./", ".\\") " b"];
    case 3
      code = ["a " comparison " b"];
    case 4
      code = ["(a " comparison " 1) " random_pick("&", "|") " (b " random_pick("<", "!=") " 2)"];
    case 5
      number = random_number ();
      code = random_pick (["a " random_pick("+", "-", ".*", "./", comparison) " " number], [number " " random_pick("+", "-", ".*", "./", comparison) " a"]);
    case 6
      code = [random_pick("-a", "abs (a)", "! (a > 0)", "isnan (a)", "isinf (a)", "isfinite (a)", "sqrt (abs (a))", "floor (a)", "ceil (a)", ...
                   "round (a)", "fix (a)", "sign (a)", "+a", "real (a)", "a .^ 2", "a .^ 3", "a .^ -1", "xor (a > 0, b > 0)", ...
                   "mod (a, 3)", "rem (a, 3)", "max (a, b)", "min (a, b)", "max (a, 1)", "min (2, a)", ...
                   "merge (a > 1, a, -a)")];
      ## The host has no remainders of truth values.
      if (islogical (a))
        code = regexprep (code, "^(mod|rem) \\(a", "$1 (double (a)");
      endif
      ## The host computes powers of a number in another way than of an array.
      if (any (code == "^") && isfloat (a))
        tolerance = 1e-14;
      endif
    case 7
      code = sprintf (random_pick ("%s (a)", "cast (a, \"%s\")"), random_class ());
      if (! isempty (strfind (code, "logical")))
        code = "logical (a > 0)";
      endif
    case {8, 9}
      code = ["a(" random_indices(a) ")"];
    case 10
      code = random_pick (["a(a " comparison " 1)"], "a(b > 0)", "a(:,any (a > 1, 1))", "a(:)", "a(:,:)", "a(end:-1:1,:)", "a(!(a < 2))");
    case {11, 12}
      indices = random_indices (a);
      value = random_pick (random_number (), random_number (), "b", "a", "b(:)", "b(1)", "x", "b'");
      ## With truth values, only singles make doubles of all; and the host has special rules for no places of three
      ## dimensions.
      if (nothing || islogical (a) && (isa (b, "single") || strcmp (value, "single (1.5)")) || sum (indices == ",") > 1)
        value = "7";
      endif
      ## The host treats an ordered list of places in a matrix differently from
      ## a range.
      if (strcmp (value, "[]") && ! any (indices == ",") && ! isvector (a))
        value = "7";
      endif
      code = ["x(" indices ") = " value];
    case 13
      code = random_pick (["x(x " comparison " 1) = " random_pick("7", "-2", "x(1)")], "x(x > 1) += 1", "x(:) = double (b)", "x(1,:) .*= 2", {"x(end+1,:) = 3", "x(1) = 3"}{1 + (ndims (a) > 2)}, ...
                   "x(end+1) = 5", "x(:,end+1) = double (b(:,1))", "x(:,1) -= 1", "x += b", "x .*= 2", "x(:) = 0");
    case 14
      code = ["x(" random_index(rows (a)) "," random_index(prod (size (a)(2:end))) ") = []"];
      if (isvector (a) && numel (a) > 1)
        code = ["x(" random_index(numel (a)) ") = []"];
      endif
    case 15
      code = random_pick ("[a, b]", "[a; b]", "[a, a]", "[a; a; a]", "[a, 1]", "[2; a(:)]", "cat (3, a, a)", "[a, b; a, b]", "[]", "[a]");
      ## Two kinds of nothing make other sizes in each way of joining them.
      if (strcmp (code, "[]") || nothing && any (code == "b"))
        code = "[a, []]";
      endif
    case 16
      a_page = {"a", "a(:,:)"}{1 + (ndims (a) > 2)};
      code = random_pick ("a.'", "a'", "a(:).'", "reshape (a, [], 1)", "reshape (a, 1, [])", "squeeze (a)", ["flip (a, " dim ")"], "flip (a)", "fliplr (a)", ...
                   "flipud (a)", ["rot90 (" a_page ")"], ["rot90 (" a_page ", 2)"], ["rot90 (" a_page ", -1)"], "permute (a, [2 1 3])", "permute (a, [3 1 2])", "permute (a, [2 3 1])", ...
                   "repmat (a, 2, 1)", "repmat (a, [1 2 2])", "repmat (a, 0, 1)", "circshift (a, 1)", "circshift (a, -2, 2)", "triu (a(:,:))", ...
                   "tril (a(:,:), -1)", "vec (a)", "ipermute (a, [2 3 1])");
    case {17, 18}
      code = random_pick ("sum (a)", "sum (a, %s)", "any (a > 0)", "any (a > 1, %s)", "all (a > 0)", "all (a != 0, %s)", "max (a)", "min (a)", ...
                   "max (a, [], %s)", "min (a, [], %s)", "sum (a(:))", "max (a(:))", "sumsq (a)", "sumsq (a, %s)", "prod (a)", "prod (a, %s)", ...
                   "cumsum (a)", "cumsum (a, %s)", "nnz (a > 0)", "mean (a)", "mean (a, %s)", "diff (a)", "dot (a(:), a(:))", "sum (a > 0)", ...
                   "sum (a > 0, %s)");
      code = strrep (code, "%s", dim);
      ## The host has other rules for truth values and integers, and others for differences of empty arrays.
      if (! isfloat (a) && ! isempty (regexp (code, "dot|sumsq|mean")) || isempty (a) && ! isempty (regexp (code, "diff|mean|max|min")))
        code = "sum (a)";
      endif
      ## Versions differ in running sums of integers and of 0 x 0 along a dimension.
      if (isinteger (a) && strncmp (code, "cumsum", 6) || ! any (size (a)) && ! isempty (regexp (code, ", \\d\\)$")))
        code = "sum (a)";
      endif
      if (isempty (regexp (code, "any|all|max|min|nnz|diff|>", "once")) && isfloat (a))
        tolerance = 1e-14;
      endif
    case 19
      code = random_pick ("find (a)", "find (a > 1)", "find (a, 2)", "sort (a)", "sort (a, 2)", "sort (a, \"descend\")", "sort (a(:))", "find (a(:) > 0)", ...
                   "sort (a, 1)");
      ## For an empty array the class decides if the host finds a row or a
      ## column.
      if (isempty (a))
        code = "sort (a)";
      endif
    case 20
      code = random_pick ("a * 2", "2 * a", "a / 4", "2 \\ a", "a * true", "a * single (0.5)", "(a + 1) .* a", "a - a", "-a + b .* 2", "a .* (b > 0)");
    case 21
      code = random_pick ("zeros (size (a), \"like\", a)", "ones (2, 3, \"like\", a)", "a()", "double (a)(:)", "abs (a)(1:end)", "(a > 0)(:,:)", "a + a.'", ...
                   "a(1,:) + a(:,1)", "a(:) .* a(:)", "[a(:); b(:)]");
    case 22
      code = random_pick ("size (a)", "numel (a)", "isempty (a)", "ndims (a)", "columns (a)", "isequal (a, b)", "isequal (a, a)", "isrow (a)", "isreal (a)");
      code = ["double (" code ")(1)"];
  endswitch
endfunction

function text = random_number ()
  text = random_pick ("2", "-1", "0", "0.5", "-3.25", "7", "single (1.5)", "true", "100", "1e-3", "[]", "NaN", "Inf", "-0");
endfunction

## An index into this number of places.
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
      text = random_pick ("[]", "zeros (1, 0)", "1:0", "2:end", "1:2:end", "1:end-1", "int8 (1)", "single ([1 1])");
    case 13
      text = sprintf ("%d", extent + random_pick (0, 1, 2));
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
