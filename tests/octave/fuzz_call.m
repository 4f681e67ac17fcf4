## -*- texinfo -*-
## @deftypefn {} {@var{c} =} fuzz_call (@var{seed}, @var{number}, @var{attempt}, @var{world})
## A random call of one of the five functions: always the same one for the same
## arguments.  It leaves the generator of @code{rand} in a state that only depends on them.
##
## The struct @var{c} has the fields name; v, a struct of data; inputs, a cell array of
## the expressions (over v) that make the inputs; same, whether the second input is
## the first one's variable; statement, which calls the function with these inputs,
## a@{1@}, a@{2@} .., and leaves its result in y; nout, how many outputs it asks for;
## env, the names and values of environment variables; home, the backend for what is held; settings, what these say to
## @code{fuzz_identifier}; wipe, what is cleared before; kind, a word for the count.
## @end deftypefn

function c = fuzz_call (seed, number, attempt, world)
  rand ("twister", [seed, number, attempt]);
  c = struct ("name", "", "same", false, "nout", 1, "wipe", "", "kind", "");
  c.v = struct ();
  c.inputs = {};
  ## For the options: how many filters a sweep has, whether it may have more levels, whether sweeps were counted.
  [c.filters, c.several, c.counted] = deal (1, false, false);
  ## Whether arrays are DeviceArrays.
  c.held = chance (0.1);
  c.home = world.backend;
  r = rand ();
  if (r < 0.42)
    c = stencil (c, world);
  elseif (r < 0.65)
    c = derivative (c, world);
  elseif (r < 0.93)
    c = convolution (c, world);
  elseif (r < 0.97)
    c = study (c, world);
  else
    c.name = "ConstantMemoryDevice_CUDA";
  endif
  if (chance (0.1))
    c.nout = 0;
  endif
  c = environment (c, world);

  if (chance (0.45))
    ## Often by several faults: which one is told is part of the contract.
    do
      c = spoilt (c);
    until (chance (0.4))
  endif
  if (chance (0.05))
    c.wipe = pick ({c.name, c.name, "-functions", "-all", "StencilConstantMemory_CUDA", ...
                    "ConvolutionConstantMemory_CUDA"});
  endif
  c.statement = statement (c);
endfunction

## --- Calls as they should be ---------------------------------------------------

function c = stencil (c, world)
  c.name = "StencilConstantMemory_CUDA";
  [values, size_of] = values_and_size (world);
  count = pick ({1, 3, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 2, 4, 6, 12, 20, 22, 23, 24, 30});
  if (strcmp (values, "extreme"))
    count = pick ({1, 2, 3, 4, 5});
  else
    count = longer (count, size_of);
  endif
  c = samples (c, values, dims_of (size_of, 5));
  if (chance (0.2))
    c = single_too (c);
  endif
  c = complex_too (c);
  r = rand ();
  if (r < 0.05)
    c.v.k = [1, -2, 1];
    c.inputs{2} = pick ({"[0.25 0.5 0.25]", "ones (1, 11)", "1:2:9", "1:21", "eye (1)", "[1; -2; 1]", "5:-1:1", ...
                         "[0 1 0]", "zeros (1, 3)", "[1 1] / 2", "1:40", "zeros (1, 22)"});
  else
    c.v.k = some (values_of_taps (values), [1, count]);
    if (chance (0.5))
      c.v.k = c.v.k.';
    endif
    c.inputs{2} = pick ({"v.k", "v.k", "v.k", "v.k.'", "v.k(:)", "v.k(end:-1:1)", "+v.k"});
  endif
  if (chance (0.15))
    c.inputs{2} = ["single (" c.inputs{2} ")"];
  endif
  if (chance (0.2))
    c = list (c, {"1", "[1 2 1]", "[0.25; 0.5; 0.25]", "v.k(1)", "v.k(:)", "-v.k", "1:5", "[-1 0 1]", "eye (1)", "0.5", ...
                  "[1 1]", "[1; 2; 3; 4] / 8", "ones (1, 24) / 32", "single ([1 2 1])"});
  endif
  if (chance (0.04))
    ## One variable for both.
    c.v.x = some (values, [1, count]);
    c.inputs = {"v.x", "v.x"};
    c.same = true;
    c.filters = 1;
  endif
  c = words (c, values, world);
  c = hold (levels (c, values));
  c = options (c, values, world);
endfunction

## imfilter's words, and what is none.
function c = words (c, values, world)
  while (chance (0.2))
    c.inputs{end+1} = pick ({value_for(c, "Boundary", values, world), value_for(c, "Shape", values, world), ...
                             text("corr"), text("conv"), text("conv")});
  endwhile
  if (chance (0.02))
    c.inputs{end+1} = text (pick ({"symetric", "reflected", "half", "cpu", "Bound"}));
  endif
endfunction

function c = derivative (c, world)
  c.name = "DerivativeConstantMemory_CUDA";
  [values, size_of] = values_and_size (world);
  c = samples (c, values, dims_of (size_of, 5));
  if (chance (0.4))
    c = single_too (c);
  endif
  c = complex_too (c);
  if (chance (0.75))
    c.inputs{end+1} = pick ({"1", "0.5", "2", "0.1", "pi", "1/3", "single (0.1)", "int8 (3)", "uint64 (7)", "1e-3", ...
                             "4", "2:2"});
  endif
  c = hold (c);
  c = options (c, values, world);
endfunction

function c = convolution (c, world)
  c.name = "ConvolutionConstantMemory_CUDA";
  [values, size_of] = values_and_size (world);
  c = samples (c, values, dims_of (size_of, 3 + chance (0.15) + chance (0.05)));
  r = rand ();
  if (strcmp (values, "extreme"))
    dims = [1, pick({1, 2, 3, 5})];
  elseif (r < 0.3)
    dims = 2 * floor (3 * rand (1, 2)) + 1;
  elseif (r < 0.5)
    dims = ceil (6 * rand (1, 2));
  elseif (r < 0.62)
    dims = 2 * floor ([2, 2, 3] .* rand (1, 3)) + 1;
  elseif (r < 0.74)
    dims = ceil ([4, 4, 6] .* rand (1, 3));
  elseif (r < 0.86)
    dims = ceil (20 * rand (1, 2));
  elseif (r < 0.93)
    dims = ceil (9 * rand (1, 3));
  else
    dims = [1, 1];
    dims(1 + chance (0.5)) = longer (ceil (60 * rand ()), size_of);
  endif
  c.v.f = some (values_of_taps (values), dims);
  c.inputs{2} = pick ({"v.f", "v.f", "v.f", "v.f(end:-1:1,end:-1:1,:)", "reshape (v.f(:), size (v.f))"});
  if (chance (0.06))
    c.inputs{2} = pick ({"eye (3)", "[1 2 1]", "[1; 0; -1]", "1:5", "ones (3)", "3 * eye (5)", "eye (3)([2 1 3],:)"});
  endif
  if (chance (0.25))
    c = single_too (c);
  endif
  if (chance (0.2))
    c.inputs{1} = [pick({"uint8", "uint16", "int16", "int8", "int32", "uint32", "0.5 <"}) " (" c.inputs{1} ")"];
  endif
  c = complex_too (c);
  if (chance (0.25))
    c.inputs{2} = ["single (" c.inputs{2} ")"];
  endif
  if (chance (0.2))
    c = list (c, {"1", "[1 2 1]", "[1; 0; -1]", "v.f(1)", "v.f(end:-1:1,:,:)", "-v.f", "ones (3)", "single (0.5)", ...
                  "single (v.f)", "eye (3)", "[1 2 3; 4 5 6; 7 8 9] / 8", "[1 2; 3 4] / 8", "ones (1, 20) / 16", ...
                  "ones (2, 1, 2)"});
  endif
  if (chance (0.03) && numel (c.v.f) < 400)
    c.inputs = {"v.f", "v.f"};
    c.same = true;
    c.filters = 1;
  endif
  c = words (c, values, world);
  c = hold (levels (c, values));
  c = options (c, values, world);
endfunction

## A count of taps, seldom hundreds or thousands.
function count = longer (count, size_of)
  if (any (strcmp (size_of, {"long", "large"})))
    return;
  endif
  if (chance (0.06))
    count = 25 + floor (300 * rand ());
  elseif (chance (0.008))
    count = pick ({1000, 1023, 1024, 2048, 4097, 8190, 8191});
  endif
endfunction

## Complex samples, if they may be so; no DeviceArray is.
function c = complex_too (c)
  if (! chance (0.12))
    return;
  endif
  v = c.v;
  if (isfloat (eval (c.inputs{1})))
    code = c.inputs{1};
    c.inputs{1} = sprintf ("complex (%s, reshape (flipud (vec (%s)), size (%s)))", code, code, code);
    c.held = chance (0.02);
  endif
endfunction

## Small ones: where there is a device they run.
function c = study (c, world)
  c.name = "ConstantMemoryStudy_CUDA";
  which = pick ({"access", "readonly", "angles", "convolution"});
  c.inputs = {text(which)};
  switch (which)
    case "access"
      pairs = {"Sums", "1000"; "BlockSize", pick({"32", "256", "uint16 (1024)"}); ...
               "Pattern", text(pick ({"pseudo_random", "one_access_per_warp"}))};
    case "readonly"
      pairs = {"Points", "2000"; "BlockSize", pick({"64", "single (128)"})};
    case "angles"
      pairs = {"Threads", pick({"1", "320"})};
    otherwise
      pairs = {"Size", pick({"1", "50"}); "Radius", pick({"1", "7"})};
  endswitch
  if (world.devices > 0 && chance (0.3))
    pairs(end+1,:) = {"Device", "1"};
  endif
  for i = randperm (rows (pairs))
    ## The size is never left out: without it a study takes seconds.
    if (i == 1 || chance (0.6))
      c.inputs(end+1:end+2) = {option_name(c.name, which, pairs{i,1}), pairs{i,2}};
    endif
  endfor
endfunction

## Several filters a sweep, of which the one that is there is the first, or the last.
function c = list (c, others)
  if (chance (0.1))
    ## Too few, too many, and nearly so.
    c.inputs{2} = sprintf (pick ({"{(%s)}", "{(%s)}", "repmat ({(%s)}, 1, 65)", "repmat ({(%s)}, 5, 13)", "repmat ({(%s)}, 2, 1)"}), c.inputs{2});
    return;
  endif
  others = others(ceil (rand (1, pick ({1, 1, 1, 2, 2, 3})) * numel (others)));
  entries = ["(" c.inputs{2} ")"];
  for i = 1:numel (others)
    if (chance (0.3))
      entries = ["(" others{i} "), " entries];
    else
      entries = [entries pick({", ", "; "})(1) " (" others{i} ")"];
    endif
  endfor
  if (any (entries == ";"))
    entries = strrep (entries, "), (", "); (");
  endif
  c.inputs{2} = ["{" entries "}"];
  c.filters = 1 + numel (others);
endfunction

## Two time levels, sources, states on the way. They come first: what follows may say some of it once more.
function c = levels (c, values)
  first = c.inputs{1};
  whole = ! isempty (regexp (first, "^(u?int|0.5 <)"));
  if (! chance (0.3 - 0.15 * whole))
    return;
  endif
  c.several = true;
  v = c.v;
  x = eval (first);
  type = class (x);
  ## Such pairs go with real arrays alone.
  real = isreal (x);
  pairs = {};
  if (chance (0.1 + 0.5 * real))
    pairs(end+1,:) = {"Previous", array_like(first, isfloat (x) && real, c.held)};
    pairs(end+1,:) = {"Weight", pick({"-1", "-1", "-1", "1", "0", "-0", "0.5", "-0.25", "2", "0.1", "-1/3", "true", ...
                                      "int8 (-1)", "single (0.1)", "Inf", "NaN", "1e-300", "1:1"})};
    if (chance (0.05))
      pairs{2,2} = pick ({"1:2", "1i", "[]", "{1}", "\"1\"", "sparse (1)"});
    endif
    if (chance (0.12))
      pairs(1 + chance (0.5),:) = [];
    endif
    if (chance (0.6))
      c.nout = 2;
    endif
  endif
  if (chance (0.05 + 0.4 * real))
    value = pick ({"0", "-0", "1", "-3", "0.1", "true", "int8 (-3)", "single (0.1)", "Inf", "2 ^ -30"});
    if (chance (0.6))
      value = array_like (first, isfloat (x) && real, c.held);
    endif
    pairs(end+1,:) = {"Source", value};
  endif
  if (chance (0.4 + 0.5 * ! real))
    every = pick ({1, 1, 2, 2, 3, 5});
    pairs(end+1,:) = {"Every", pick({"%d", "%d", "int8 (%d)", "single (%d)"})};
    pairs{end,2} = sprintf (pairs{end,2}, every);
    if (chance (0.9))
      pairs(end+1,:) = {"Iterations", num2str(every * pick ({0, 1, 1, 2, 2, 3, 4, 7}))};
      c.counted = true;
    endif
  endif
  c.v.p = cast (some (values, size (x)), ifelse (isfloat (x), type, "double"));
  c.v.q = cast (some (values, size (x)), ifelse (isfloat (x), type, "double"));
  for i = randperm (rows (pairs))
    c.inputs(end+1:end+2) = {option_name(c.name, "", pairs{i,1}), pairs{i,2}};
  endfor
endfunction

## The samples as a DeviceArray, if there can be one of them.
function c = hold (c)
  if (c.held && ! c.same)
    v = c.v;
    x = eval (c.inputs{1});
    if (isfloat (x) && isreal (x))
      c.inputs{1} = ["DeviceArray (" c.inputs{1} ")"];
    endif
  endif
endfunction

function value = ifelse (condition, value, other)
  if (! condition)
    value = other;
  endif
endfunction

## An array of the samples' class and size, which may be the samples themselves; or nearly so.
function code = array_like (first, real, held)
  code = pick ({"v.p", "v.p", "v.q", "v.p(:,:,:,:,:,:,:)", ["(" first ")"], sprintf("reshape (flipud (vec (%s)), size (%s))", first, first)});
  if (xor (held, chance (0.03)) && real)
    code = ["DeviceArray (" code ")"];
  endif
  if (chance (0.08))
    code = pick ({"1:3", "v.p(end:-1:1)", "v.p(:)", "single (v.p)", "double (v.p)", "int8 (v.p)", "v.p > 0", "{v.p}", "sparse (double (v.p(:,:)))", ...
                  "complex (v.p)", "[]", "v.p([])", "num2cell (v.p(:))", "'a'", "[v.p(:); 1]", "DeviceArray (1:3)"});
  endif
endfunction

function c = options (c, values, world)
  all = fuzz_options (c.name);
  often = struct ("Backend", 0.45, "Device", 0.03, "Boundary", 0.6, "Dim", 0.35, "Iterations", 0.3, ...
                  "Progress", 0.12, "Coefficients", 0.3, "Shape", 0.15, "Previous", 0, "Weight", 0, "Source", 0, ...
                  "Every", 0, "Distributed", 0.04);
  if (c.several || c.filters > 1)
    often.Shape = 0.03;
    often.Dim = 0.6;
  endif
  if (numel (c.v.x) > 30000)
    often.Iterations = 0.7;
  endif
  if (c.counted)
    often.Iterations = 0.02;
  endif
  for i = randperm (numel (all))
    if (! chance (often.(all{i})))
      continue;
    endif
    times = 1 + chance (0.04);      # the last of two counts
    for j = 1:times
      value = value_for (c, all{i}, values, world);
      if (strcmp (all{i}, "Boundary") && chance (0.25))
        value = sides (c, @() value_for (c, "Boundary", values, world));
      endif
      c.inputs(end+1:end+2) = {option_name(c.name, "", all{i}), value};
    endfor
  endfor
endfunction

## A boundary for each side, or nearly so.
function value = sides (c, boundary)
  ## In a cell a blank would end an element.
  boundary = @() ["(" boundary() ")"];
  pair = @() sprintf ("{%s, %s}", boundary (), boundary ());
  if (chance (0.06))
    value = pick ({"{}", "{0}", "{{0, 1}}", "{0, 1, 2}", "{0, {1, 2}}", "{{0, 1}, 2}", "{{{0}}, 1}", "{{{0, 1}, 1}, 1}", ...
                   "{\"circular\", 0}", "{\"circular\", \"CIRCULAR\"}", "{0, \"zero\"}", "{0; 1}", "cell (1, 2)", ...
                   "{{}, 1}", "{\"\", 1}", "{1, [1 2]}", "num2cell (ones (2, 2))", "num2cell (1:65)"});
    return;
  endif
  count = ndims (c.v.x) + chance (0.04);
  if (! strcmp (c.name, "ConvolutionConstantMemory_CUDA"))
    count = c.filters;
    if (! (c.several || count > 1) || chance (0.4))
      value = pair ();
      return;
    endif
  endif
  each = cell (1, count);
  for d = 1:numel (each)
    each{d} = boundary ();
    if (chance (0.4))
      each{d} = pair ();
    endif
  endfor
  value = ["{" strjoin(each, ", ") "}"];
endfunction

function value = value_for (c, option, values, world)
  switch (option)
    case "Backend"
      choices = {"cpu", "cpu", "auto", "fastest"};
      if (world.devices > 0)
        choices = {"cpu", "auto", "cuda", "cuda", "fastest"};
      endif
      value = text (pick (choices));
    case "Device"
      value = pick ({"1", "1", "99", "\"all\"", "[1 2]"});
    case "Coefficients"
      value = text (pick ({"constant", "readonly"}));
    case "Boundary"
      if (strcmp (values, "extreme") && chance (0.5))
        value = pick ({"1e300", "5e-324", "-realmax", "2 ^ -140", "realmin"});
      elseif (chance (0.65))
        value = text (pick ({"replicate", "symmetric", "mirror", "circular"}));
      elseif (strcmp (values, "int"))
        value = pick ({"0", "-0", "5", "-7", "Inf", "NaN", "int8 (-3)", "true", "false", "uint64 (7)", "3:3"});
      else
        value = pick ({"0", "-0", "1.5", "-7e19", "Inf", "-Inf", "NaN", "single (0.1)", "int8 (-3)", "true", ...
                       "uint64 (7)", "0.1", "2 ^ -80"});
      endif
    case "Dim"
      if (c.filters > 1 && chance (0.9))
        dims = ceil (3.3 * rand (1, c.filters + chance (0.05)));
        value = sprintf (pick ({"%s", "%s", "uint8 (%s)", "single (%s)", "%s.'", "%s + 0.5 * (1 > 2)"}), mat2str (dims));
        if (chance (0.03))
          value = sprintf (pick ({"%s > 0", "%s / 2", "-%s", "num2cell (%s)", "[%s, 1]", "sparse (%s)", "complex (%s)", ...
                                  "[%s; 1 2 3 4](:,:)", "char (%s)", "reshape (%s, 1, 1, [])"}), mat2str (dims));
          if (any (value == ";"))
            value = "ones (2, 2)";
          endif
        endif
        return;
      elseif (chance (0.02))
        value = pick ({"[1 2]", "[1 2 3]", "ones (1, 65)", "[1; 1]"});
        return;
      endif
      value = pick ({"1", "2", "2", "3", "3", "4", "5", "int32 (2)", "single (1)", "true", "2:2", "2 ^ 32 - 1"});
    case "Iterations"
      value = pick ({"0", "1", "2", "2", "3", "3", "4", "5", "int8 (2)", "true", "single (4)", "8", "17", "50"});
      if (chance (0.06))
        value = pick ({"100", "1000", "3333", "2 ^ 32 - 1"});
      endif
      if (strcmp (values, "extreme"))
        value = pick ({"1", "2"});
      elseif (numel (c.v.x) > 4000 && chance (0.8))
        ## Enough for several passes over the array.
        value = pick ({"3", "8", "17", "40", "60"});
        if (numel (c.v.x) > 30000)
          value = pick ({"17", "40", "60", "60"});
        endif
      endif
    case "Shape"
      value = text (pick ({"same", "full", "full", "valid"}));
    case "Distributed"
      value = pick ({"true", "true", "true", "1", "2", "3", "uint8 (4)", "7", "false", "0", "2 ^ 32 - 1", "[true false]", "1.5"});
    case "Progress"
      value = pick ({"true", "false", "1", "0", "int8 (1)"});
  endswitch
endfunction

## --- Names and words -----------------------------------------------------------

## An option's name in full or shortened, in any case.
function code = option_name (name, study, option)
  if (chance (0.6))
    short = numel (option);
  else
    short = 1;
    while (! strcmp (fuzz_meaning (option(1:short), name, study), option))
      short++;
    endwhile
    short += floor (rand () * (numel (option) - short + 1));
  endif
  code = text (option(1:short));
endfunction

## A word as code: in any case, in either kind of quotes.
function code = text (word)
  r = rand ();
  if (r < 0.2)
    word = lower (word);
  elseif (r < 0.35)
    word = upper (word);
  elseif (r < 0.45)
    up = rand (size (word)) < 0.5;
    word(up) = upper (word(up));
  endif
  quote = "\"";
  if (chance (0.4))
    quote = "'";
  endif
  code = [quote, word, quote];
endfunction

## --- Arrays ----------------------------------------------------------------------

function [values, size_of] = values_and_size (world)
  r = rand ();
  if (r < 0.4)
    values = "int";
  elseif (r < 0.7)
    values = "noise";
  elseif (r < 0.8)
    values = "unit";
  elseif (r < 0.97)
    values = "special";
  else
    values = "extreme";
  endif
  r = rand ();
  if (strcmp (values, "extreme"))
    size_of = "tiny";
  elseif (r < 0.02)
    size_of = "large";
  elseif (r < 0.055)
    size_of = "long";
  elseif (r < 0.2)
    size_of = "middle";
  else
    size_of = "small";
  endif
endfunction

function dims = dims_of (size_of, most)
  persistent lengths = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 19, 20, 21, 22, 23, 29, 31, 32, 33, ...
                        37, 39, 40, 41, 43, 47, 63, 64, 65, 83, 84, 85, 97, 101, 127, 128, 129, 131, 255, 256, 257, ...
                        511, 512, 513, 521, 639, 640, 641, 643, 1023, 1024, 1025, 1031, 4095, 4096, 4097, 4099];
  switch (size_of)
    case "tiny"
      most = 2;
      bound = 24;
    case "small"
      bound = 400;
    case "middle"
      bound = 5000;
    case "long"
      n = 4000 + floor (16000 * rand ());
      if (chance (0.5))
        n += 30000 + floor (60000 * rand ());
      endif
      dims = pick ({[1, n], [n, 1], [n, 2], [3, n]});
      return;
    case "large"
      dims = pick ({[1, 2e5], [2e5, 1], [331, 307], [7, 20011], [20011, 7], [3, 2, 20000], [64, 1, 2048], ...
                    [41, 43, 59], [1, 16384], [16384, 5], [4096, 33], [1, 65537]});
      if (numel (dims) > most)
        dims = [331, 307];
      endif
      return;
  endswitch
  r = rand ();
  if (r < 0.06)
    dims = pick ({[0, 0], [0, 3], [3, 0], [1, 0], [0, 1], [2, 0, 3], [5, 3, 0], [0, 1, 4]});
    return;
  elseif (r < 0.1)
    dims = [1, 1];
    return;
  elseif (r < 0.5)
    at = pick ({1, 2, 2});
    dims = [1, 1];
    in_bound = lengths(lengths <= bound);
    dims(at) = in_bound(ceil (rand () * numel (in_bound)));
    return;
  elseif (r < 0.6 && most > 2)
    dims = ones (1, 2 + ceil (rand () * (most - 2)));
    ## Ones in front.
    free = [2:numel(dims)];
  else
    dims = ones (1, 2 + floor (rand () ^ 2 * (most - 1)));
    free = 1:numel (dims);
  endif
  for d = free(randperm (numel (free)))
    in_bound = lengths(lengths <= bound);
    dims(d) = in_bound(ceil (rand () ^ 1.3 * numel (in_bound)));
    bound /= dims(d);
  endfor
endfunction

function x = some (values, dims)
  switch (values)
    case "int"
      x = floor (19 * rand (dims)) - 9;
    case "unit"
      x = 2 * rand (dims) - 1;
    case "noise"
      x = (rand (dims) - 0.5) .* 2 .^ floor (40 * rand (dims) - 20);
    case "special"
      x = (rand (dims) - 0.5) .* 2 .^ floor (8 * rand (dims) - 4);
      odd = [NaN, Inf, -Inf, -0, 0, 1, -1];
      some = rand (dims) < 0.08;
      x(some) = odd(ceil (numel (odd) * rand (nnz (some), 1)));
    case "extreme"
      x = (rand (dims) - 0.5) .* 2 .^ pick ({-1070, -540, -500, 500, 1020, 1023});
      odd = [realmin, realmax, -realmax, 2 ^ -1074, -(2 ^ -1074), realmin - 2 ^ -1074, -0, Inf, 1];
      some = rand (dims) < 0.3;
      x(some) = odd(ceil (numel (odd) * rand (nnz (some), 1)));
  endswitch
endfunction

## Taps with a NaN or an infinity leave nothing of the samples to be seen: most have none.
function values = values_of_taps (values)
  if (strcmp (values, "special") && chance (0.7))
    values = pick ({"int", "unit"});
  endif
endfunction

## The first input: data as they are, or seen through something.
function c = samples (c, values, dims)
  x = some (values, dims);
  n = numel (x);
  flat = numel (dims) == 2;
  r = rand ();
  if (r < 0.55 || n == 0)
    code = "v.x";
  elseif (r < 0.61 && flat)
    x = x.';
    code = pick ({"v.x.'", "v.x'"});
  elseif (r < 0.67 && flat)
    x = [x(:,1) * 2, x, x(:,1)];
    code = "v.x(:,2:end-1)";
  elseif (r < 0.71 && flat)
    x = [x(1,:); x; x(1,:) + 1];
    code = "v.x(2:end-1,:)";
  elseif (r < 0.75)
    code = sprintf ("reshape (v.x, [%s])", num2str (dims));
    x = x(:);
  elseif (r < 0.78)
    code = "v.x(:)";
  elseif (r < 0.81)
    code = "v.x(end:-1:1)";
  elseif (r < 0.84)
    code = pick ({"+v.x", "-v.x", "v.x * 1", "permute (v.x, [2 1 3:ndims(v.x)])", "v.x(1:2:end)", "[v.x]", "{v.x}{1}"});
  elseif (r < 0.94)
    n = min (n, 5000);
    code = pick ({sprintf("1:%d", n), sprintf("%d:-1:1", n), sprintf("(1:%d).'", n), sprintf("-3:%d", n), ...
                  sprintf("(0:%d) / 4", n), sprintf("eye (%d)", min (n, 40)), sprintf("eye (%d, 7)", min (n, 40)), ...
                  sprintf("2 * eye (%d)", min (n, 40)), sprintf("eye (%d)(:,end:-1:1)", min (n, 40)), ...
                  sprintf("zeros (3, %d)", n), sprintf("ones (%d, 2)", n), ...
                  sprintf("-zeros (%d, 1)", n), "magic (4)", "5", "pi"});
    if (strcmp (values, "extreme"))
      code = "v.x";
    endif
  else
    code = "v.x";
  endif
  c.v.x = x;
  c.inputs = {code};
endfunction

function c = single_too (c)
  if (strcmp (c.inputs{1}, "v.x"))
    c.v.x = single (c.v.x);
  else
    c.inputs{1} = ["single (" c.inputs{1} ")"];
  endif
endfunction

## --- The environment -----------------------------------------------------------

function c = environment (c, world)
  c.env = {"STENCIL_BACKEND", world.backend; "STENCIL_THREADS", ""; "STENCIL_DEVICE_BYTES", ""};
  c.settings = struct ("backend", world.backend, "bad", false, "threads", Inf, "bytes", 2 ^ 28);
  if (chance (0.75))
    return;
  endif
  ## A value, and what it says; [] for nonsense.
  backends = {"cpu", "cpu"; "CPU ", "cpu"; "auto", "auto"; " Auto", "auto"; "", "auto"; "cuda", "cuda"; "Fastest", "fastest"; "gpu", []; "c", []; "0", []};
  threads = {"1", 1; "2", 2; "3", 3; " 8", 8; "1e1", 10; "", Inf; "0", []; "many", []; "-1", []; "1.5", []; "1e30", []; "inf", []};
  bytes = {"65536", 65536; "1e6", 1e6; "100000", 1e5; "", 2 ^ 28; "512M", []; "-1", []; "0", []; "nan", []; "1 2", []; "0x10", []};
  tables = {backends, threads, bytes};
  fields = {"backend", "threads", "bytes"};
  for i = 1:3
    if (! chance (0.5))
      continue;
    endif
    table = tables{i};
    sense = ! cellfun (@isempty, table(:,2));
    if (chance (0.6))
      table = table(sense,:);
    endif
    row = ceil (rand () * rows (table));
    c.env{i,2} = table{row,1};
    if (isempty (table{row,2}))
      c.settings.bad = true;
    else
      c.settings.(fields{i}) = table{row,2};
    endif
  endfor
endfunction

## --- Calls as they should not be ----------------------------------------------

function c = spoilt (c)
  n = numel (c.inputs);
  i = ceil (rand () * max (n, 1));
  ## Names stand before the last value, and before the one before that.
  optional = n - 1:-2:1;
  optional = optional(strncmp (c.inputs(optional), "\"", 1) | strncmp (c.inputs(optional), "'", 1));
  named = 0;
  if (! isempty (optional))
    named = optional(ceil (rand () * numel (optional)));
  endif
  switch (pick ({"input", "input", "first", "second", "drop", "add", "outputs", "outputs", "name", "name", ...
                 "value", "value", "taps", "swap", "pair", "device", "entry", "level"}))
    case "input"
      if (n > 0)
        c.inputs{i} = anything ();
      endif
    case "first"
      if (n > 0)
        c.inputs{1} = anything ();
      endif
    case "second"
      if (n > 1)
        c.inputs{2} = pick ({anything(), "0", "-1", "NaN", "Inf", "[1 2]", "[]", "1e-320", "int8 (0)", "-0"});
      endif
    case "drop"
      if (chance (0.5))
        c.inputs = c.inputs(1:n-(n>0));
      elseif (n > 0)
        c.inputs(i) = [];
      endif
    case "add"
      c.inputs{end+1} = anything ();
    case "outputs"
      c.nout = pick ({2, 2, 3, 10});
    case "name"
      if (named && chance (0.3))
        c.inputs{named} = text (pick ({"B", "D", "Ba", "De", "Di", "S", ""}));
      elseif (named)
        c.inputs{named} = pick ({"\"Colour\"", "\"B\"", "'b'", "\"D\"", "'d'", "\"\"", "''", "\"Backends\"", "\"ackend\"", "\"backend \"", "\" backend\"", ...
                                 "\"Device1\"", "\"Boundary0\"", "\"Dimension\"", "\"It\"", "\"P\"", "\"Co\"", "\"cpu\"", "\"%s%n%d\"", ...
                                 "repmat (\"B\", 1, 5000)", "[\"Back\" char(0) \"end\"]", "char ([195 169])", "\"Dim\"", "\"Iterations\"", ...
                                 "\"Coefficients\"", "\"i\"", "\"c\"", "\"bo\"", "\"ba\"", "\"de\"", "\"di\"", "\"S\"", "\"Si\"", "\"r\"", "char (zeros (0, 3))"});
      endif
    case "value"
      if (named)
        c.inputs{named+1} = pick ({anything(), anything(), "\"gpu\"", "\"cpu \"", "\"c\"", "\"cuda\"", "\"CUDA\"", "0", "-1", "1.5", "NaN", "Inf", "99", ...
                                   "2 ^ 31", "2 ^ 40", "2 ^ 53", "[1 2]", "zeros (1, 0)", "\"rep\"", "\"replicated\"", "\"mirror\"", "2", "\"constan\"", ...
                                   "[\"circular\" char(0)]", "[\"cpu\"; \"cpu\"]", "(\"cpu\")'", "1e-300", "-0", "48", "2048", "8"});
      endif
    case "taps"
      if (n > 1)
        dims = pick ({"0, 0", "1, 0", "0, 3", "2, 2, 0", "2, 2", "3, 3", "1, 1, 3", "1, 2", "4, 1", "1, 22", "23, 1", "1, 17", "17, 3", "3, 3, 9", "9, 3, 3", ...
                      "3, 4", "3, 3, 2", "3, 3, 3, 3", "1, 1, 1, 3", "15, 15", "7, 7, 7", "1, 1, 7", "1, 100001", "2, 3", ...
                      "1, 8191", "8192, 1", "1, 8192", "91, 91", "2, 4096", "21, 20, 20", "1, 1, 8192", "100, 100"});
        c.inputs{2} = ["ones (" dims ")"];
        if (chance (0.2))
          c.inputs{1} = ["ones (" dims ")"];
        endif
      endif
    case "entry"
      if (n > 1)
        entries = repmat ({"1"}, 1, pick ({2, 2, 3, 4}));
        for j = 1:pick ({1, 1, 2})
          entries{ceil (rand () * numel (entries))} = pick ({anything(), anything(), "ones (1, 2)", "ones (3, 3)", "[]", "ones (1, 23)", "ones (8192, 1)", "ones (91)", ...
                                                             "ones (3, 3, 3)", "{1}", "{1, 1}", "ones (9, 3, 3)", "int8 (1)", c.inputs{2}});
        endfor
        c.inputs{2} = ["{(" strjoin(entries, "), (") ")}"];
        if (chance (0.25))
          c.inputs{2} = pick ({"num2cell (ones (1, 64))", "num2cell (ones (1, 65))", "{}", "cell (1, 3)", "{1}", "{[1 2 1]}", "{1; 1}"});
        endif
      endif
    case "level"
      c.inputs(end+1:end+2) = {text(pick ({"Previous", "Weight", "Source", "Every", "Pre", "W", "So", "E", "P", "Pr", "S", "Sourc", "Everyone"})), ...
                               pick({anything(), "1", "-1", "2", "0", ifelse(isfield (c.v, "x"), "v.x", "1:3"), "[]", "true"})};
    case "swap"
      if (n > 1)
        c.inputs([1, i]) = c.inputs([i, 1]);
      endif
    case "pair"
      c.inputs(end+1:end+2) = {pick({"\"Colour\"", "\"Backend\"", "7", "\"D\"", "\"Progress\"", ...
                                     "{\"Backend\"}", "\"Dim\"", "\"Iterations\""}), anything()};
    case "device"
      c.inputs(end+1:end+2) = {option_name("StencilConstantMemory_CUDA", "", "Device"), ...
                               pick({"1", "99", "0", "2 ^ 31", "1.5", "\"1\"", "[1 2]", "[1 1]", "[1; 2.5]", "\"ALL\"", "single ([1 2])", "{1, 2}"})};
  endswitch
  c.same = c.same && numel (c.inputs) > 1 && strcmp (c.inputs{1}, c.inputs{2});
endfunction

## An expression of anything that a user may hand over.
function code = anything ()
  persistent list = {
    "single (1)", "single ([])", "single (pi)", "single (1):single (3)", "int8 (1:3)", "int16 (1:3)", "int32 (1:3)", "int64 (7)", "uint8 (3)", ...
    "uint16 (1:3)", "uint32 (1)", "uint64 (1:3)", "int8 ([])", "int8 (-1)", "true", "false", "true (1, 3)", "(1:3) > 2", "logical ([])", "\"abc\"", "'a'", "\"\"", ...
    "\"1\"", "\"one\"", "{}", "{1, \"a\", 3}", "{1, 2, 3}", "{1}", "{\"cpu\"}", "struct ()", "struct (\"a\", {1, 2, 3})", "struct ([])", "@sin", "@(t) t", "inputParser ()", ...
    "containers.Map ()", "sparse (1:3)", "sparse (eye (3))", "sparse (5)", "sparse (0)", "sparse (4, 4)", "sparse ([])", "sparse (1000, 1000)", ...
    "sparse ([1 0 1i])", "sparse (true)", "1i", "[1 2 3i]", "complex (1, 0)", "complex (1:3, 0)", "complex (NaN, Inf)", "complex (zeros (0, 3), 0)", ...
    "single (1i)", "complex (single (1:3), 0)", "[]", "zeros (0, 3)", "zeros (3, 0)", "zeros (1, 0)", "1", "0", "-1", "0.5", "-0", "NaN", "Inf", "-Inf", "1:3", "1:4", ...
    "1:0", "[1; 2; 3]", "ones (2)", "ones (3)", "ones (2, 2, 2)", "ones (3, 3, 3, 3)", "eye (3)", "eye (3)([2 1 3],:)", "1:23", "ones (3, 3)(1,:)", ...
    "[\"ab\"; \"cd\"]", "\"abc\"'", "repmat (\"cpu\", 1, 3000)", "\"%s%s%n\"", "1e300", "5e-324", "realmax (\"single\")", "99", "1000", "2 ^ 31", "2 ^ 53", ...
    "int32 (2)", "single (0.5)", "1:2:9", "5:5", "magic (4)", "NA", "e", "dir (\"/nonexistent\")", "permute (ones (1, 1, 5), [3 2 1])", "ones (1, 1, 5)"};
  code = list{ceil (rand () * numel (list))};
endfunction

## --- The statement -----------------------------------------------------------------

function code = statement (c)
  n = numel (c.inputs);
  words = cell (1, n);
  for i = 1:n
    words{i} = sprintf ("a{%d}", i);
    ## A DeviceArray is made before, where the environment makes sense.
    if (chance (0.35) && isempty (strfind (c.inputs{i}, "DeviceArray")))
      words{i} = c.inputs{i};
    endif
  endfor
  if (c.same)
    words(1:2) = {"a{1}", "a{1}"};
  endif
  list = strjoin (words, ", ");
  call = sprintf ("%s (%s)", c.name, list);
  comma = "";
  if (n > 0)
    comma = ", ";
  endif
  if (c.nout == 0)
    code = pick ({[call "; y = ans;"], [call "; y = ans;"], ...
                  sprintf("feval (\"%s\"%s%s); y = ans;", c.name, comma, list)});
    return;
  elseif (c.nout > 1)
    code = sprintf ("o = cell (1, %d); [o{:}] = %s; [y, z] = o{1:2};", c.nout, call);
    if (c.nout == 2)
      code = pick ({code, sprintf("[y, z] = %s;", call)});
    endif
    return;
  endif
  code = sprintf ("y = %s;", call);
  r = rand ();
  if (r < 0.6)
    return;
  endif
  switch (floor (9 * rand ()))
    case 0
      code = sprintf ("y = feval (\"%s\"%s%s);", c.name, comma, list);
    case 1
      code = sprintf ("y = feval (@%s%s%s);", c.name, comma, list);
    case 2
      code = sprintf ("h = @%s; y = h (%s);", c.name, list);
    case 3
      if (n > 0)
        code = sprintf ("y = cellfun (@(w) %s (%s), {(%s)}, \"UniformOutput\", false){1};", c.name, ...
                        strjoin ([{"w"}, words(2:end)], ", "), words{1});
      endif
    case 4
      code = sprintf ("s = evalc (\"y = %s;\");", strrep (strrep (call, "\\", "\\\\"), "\"", "\\\""));
    case 5
      code = sprintf ("g = {(%s)}; y = %s (g{:});", strjoin (words, "), ("), c.name);
      if (n == 0)
        code = sprintf ("g = {}; y = %s (g{:});", c.name);
      endif
    case 6
      code = sprintf ("g = @() %s; y = g ();", call);
    case 7
      code = sprintf ("unwind_protect, t.u{2} = %s; y = t.u{2}; unwind_protect_cleanup, t = 0; end_unwind_protect", ...
                      call);
    case 8
      code = sprintf ("try, y = %s; catch e, rethrow (e); end_try_catch", call);
  endswitch
endfunction

## --- Chance ------------------------------------------------------------------------

function yes = chance (p)
  yes = rand () < p;
endfunction

function one = pick (list)
  one = list{ceil (rand () * numel (list))};
endfunction
