## -*- texinfo -*-
## @deftypefn {} {@var{c} =} fuzz_call (@var{seed}, @var{number}, @var{world})
## A random call of one of the five functions, the same one for the same arguments.
##
## A call is valid as it is built.  Every other one is then spoilt by a row of
## @code{fuzz_spoilt}, or by two, and must raise the identifier of the row that
## comes first in the contract's order.
##
## The struct @var{c} has the fields name; v, a struct of data; inputs, the expressions (over v) that make the inputs,
## and a, their values; statement, which calls the function with the inputs a@{1@}, a@{2@} ..; nout, how many outputs
## it asks for; due, the last part of the identifier, or ""; options, a struct of the options under their full names;
## env, the names and values of environment variables, and settings, their meaning; home, the backend for arrays on
## the device; wipe, the functions that are cleared before; kind, a word for the count.
## @end deftypefn

function c = fuzz_call (seed, number, world)
  rand ("twister", [seed, number]);
  ## Inputs are made in an environment that makes sense.
  for variable = {"STENCIL_BACKEND", "STENCIL_THREADS", "STENCIL_DEVICE_BYTES"; world.backend, "", ""}
    setenv (variable{:});
  endfor
  do
    c = valid (likely ([42 23 28 4 3], {"s", "d", "c", "y", "i"}), world);
  until (c.work < 2e8)
  c = environment (c, world);
  if (chance (0.45))
    c = fuzz_spoilt (c, world);
  endif
  if (chance (0.05))
    c.wipe = pick ({c.name, c.name, "-functions", "-all", "StencilConstantMemory_CUDA", ...
                    "ConvolutionConstantMemory_CUDA"});
  endif
  c = assembled (c);
  c.kind = sprintf ("%s: %s", lower (strtok (strrep (c.name, "ConstantMemory", ""), "_")), sort_of (c));
endfunction

function word = sort_of (c)
  word = c.due;
  if (isempty (word))
    list = numel (c.a) > 1 && iscell (c.a{2});
    words = {"distributed", "levels", "states", "states", "list", "sweeps", "good"};
    has = [isfield(c.options, {"Distributed", "Previous", "Source", "Every"}), list, isfield(c.options, "Iterations"), true];
    word = [words{find(has, 1)}, {"", "_complex"}{1 + iscomplex(c.x)}, {"", "_held"}{1 + c.held}];
  endif
endfunction

## --- Valid calls ---------------------------------------------------------------

function c = valid (letter, world)
  names = struct ("s", "StencilConstantMemory_CUDA", "d", "DerivativeConstantMemory_CUDA", ...
                  "c", "ConvolutionConstantMemory_CUDA", "y", "ConstantMemoryStudy_CUDA", ...
                  "i", "ConstantMemoryDevice_CUDA");
  c = struct ("letter", letter, "name", names.(letter), "v", struct (), "inputs", {{}}, "words", {cell(0, 2)}, ...
              "pairs", {cell(0, 3)}, "tail", {{}}, "nout", ! chance (0.1), "same", false, "held", false, "x", [], ...
              "h", 1, "work", 0, "filters", {{}}, "plain", "", "which", "", "due", "", "wipe", "", "home", world.backend);
  switch (letter)
    case "i"
      return;
    case "y"
      c = study (c, world);
    otherwise
      values = likely ([40 30 10 17 3], {"int", "noise", "unit", "special", "extreme"});
      size_of = likely ([2 3.5 14.5 80], {"large", "long", "middle", "small"});
      if (strcmp (values, "extreme"))
        size_of = "tiny";
      endif
      c = samples (c, values, dims_of (size_of, merge (letter == "c", 3 + chance (0.2) + chance (0.05), 5)));
      if (letter == "d" && chance (0.75))
        c.inputs{2} = pick ({"1", "0.5", "2", "0.1", "pi", "1/3", "single (0.1)", "int8 (3)", "uint64 (7)", "1e-3", "4", "2:2"});
        c.h = double (eval (c.inputs{2}));
      elseif (letter != "d")
        c = filters (c, values, any (strcmp (size_of, {"long", "large"})));
      endif
      c = options (c, values, world);
  endswitch
endfunction

## The first input: data as they are, or seen through something, in any class.
function c = samples (c, values, dims)
  x = some (values, dims);
  flat = numel (dims) == 2;
  n = min (numel (x), 5000);
  code = "v.x";
  r = rand ();
  if (r < 0.45 && n > 0)
    one = likely ([6 * flat, 6 * flat, 4 * flat, 4, 3, 3, 3, 10 * ! strcmp(values, "extreme")], {
      {pick({"v.x.'", "v.x'"}), x(:,:).'}, {"v.x(:,2:end-1)", [x(:,1) * 2, x(:,:), x(:,1)]}, ...
      {"v.x(2:end-1,:)", [x(1,:); x(:,:); x(1,:) + 1]}, {sprintf("reshape (v.x, [%s])", num2str (dims)), x(:)}, ...
      {"v.x(:)", x}, {"v.x(end:-1:1)", x}, ...
      {pick({"+v.x", "-v.x", "v.x * 1", "permute (v.x, [2 1 3:ndims(v.x)])", "v.x(1:2:end)", "[v.x]", "{v.x}{1}"}), x}, ...
      {pick({sprintf("1:%d", n), sprintf("%d:-1:1", n), sprintf("(1:%d).'", n), sprintf("-3:%d", n), "5", "pi", ...
             sprintf("(0:%d) / 4", n), sprintf("eye (%d)", min (n, 40)), sprintf("eye (%d, 7)", min (n, 40)), ...
             sprintf("2 * eye (%d)", min (n, 40)), sprintf("eye (%d)(:,end:-1:1)", min (n, 40)), "magic (4)", ...
             sprintf("zeros (3, %d)", n), sprintf("ones (%d, 2)", n), sprintf("-zeros (%d, 1)", n), "1:0", "NA", "[]"}), x}});
    [code, x] = one{:};
  endif
  c.v.x = x;
  if (chance (struct ("s", 0.2, "d", 0.4, "c", 0.25).(c.letter)))
    code = ["single (" code ")"];
  endif
  if (c.letter == "c" && chance (0.2))
    code = [pick({"uint8", "uint16", "int16", "int8", "int32", "uint32", "0.5 <"}) " (" code ")"];
  elseif (chance (0.12))
    code = sprintf ("complex (%s, reshape (flipud (vec (%s)), size (%s)))", code, code, code);
  endif
  c.plain = code;
  v = c.v;
  c.x = eval (code);
  c.held = isreal (c.x) && chance (0.1);
  c.inputs = {merge(c.held, ["DeviceArray (" code ")"], code)};
endfunction

## The filter, or a list of them.
function c = filters (c, values, is_long)
  short = strcmp (values, "extreme");
  taps = values;
  if (strcmp (values, "special") && chance (0.7))
    ## Taps with a NaN or an infinity leave nothing of the samples to be seen: most have none.
    taps = pick ({"int", "unit"});
  endif
  if (c.letter == "s")
    n = pick ({1, 3, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 2, 4, 6, 12, 20, 22, 23, 24, 30});
    dims = [1, longer(merge (short, pick ({1, 2, 3, 4, 5}), n), is_long || short)];
    forms = {"v.k", "v.k", "v.k", "v.k.'", "v.k(:)", "v.k(end:-1:1)", "+v.k"};
    known = {"[0.25 0.5 0.25]", "ones (1, 11)", "1:2:9", "1:21", "eye (1)", "[1; -2; 1]", "5:-1:1", "[0 1 0]", ...
             "zeros (1, 3)", "[1 1] / 2", "1:40", "1", "[1; 2; 3; 4] / 8", "ones (1, 24) / 32", "single ([1 2 1])"};
  else
    dims = likely ([30 20 12 12 12 7 7], {
      2 * floor(3 * rand (1, 2)) + 1, ceil(6 * rand (1, 2)), 2 * floor([2, 2, 3] .* rand (1, 3)) + 1, ...
      ceil([4, 4, 6] .* rand (1, 3)), ceil(20 * rand (1, 2)), ceil(9 * rand (1, 3)), ...
      merge(chance (0.5), @(n) [1, n], @(n) [n, 1])(longer (ceil (60 * rand ()), is_long))});
    if (short)
      dims = [1, pick({1, 2, 3, 5})];
    endif
    forms = {"v.k", "v.k", "v.k", "v.k(end:-1:1,end:-1:1,:)", "reshape (v.k(:), size (v.k))"};
    known = {"eye (3)", "[1 2 1]", "[1; 0; -1]", "1:5", "ones (3)", "3 * eye (5)", "eye (3)([2 1 3],:)", "1", ...
             "single (0.5)", "[1 2 3; 4 5 6; 7 8 9] / 8", "[1 2; 3 4] / 8", "ones (1, 20) / 16", "ones (2, 1, 2)"};
  endif
  c.v.k = some (taps, dims);
  code = pick (merge (chance (0.06), known, forms));
  if (chance (0.2))
    code = ["single (" code ")"];
  endif
  if (chance (0.2))
    ## 64 are the most.
    others = known(ceil (rand (1, likely ([10 50 25 15 1], {0, 1, 2, 3, 63})) * numel (known)));
    entries = [{code}, others, when(chance (0.3) && numel (others) < 63, {"-v.k"})](randperm (end));
    code = ["{(" strjoin(entries, merge (chance (0.5), "), (", "); (")) ")}"];
  endif
  c.inputs{2} = code;
  if (chance (0.035) && ! c.held && numel (c.v.k) < 400)
    ## One variable for both.
    [c.v.x, c.x, c.plain, c.same] = deal (c.v.k, c.v.k, "v.x", true);
    c.inputs = {"v.x", "v.x"};
  endif
  v = c.v;
  c.filters = eval (c.inputs{2});
  if (! iscell (c.filters))
    c.filters = {c.filters};
  endif
endfunction

## A count of taps, seldom hundreds or thousands.
function count = longer (count, as_it_is)
  if (! as_it_is)
    thousands = {1000, 1023, 1024, 2048, 4097, 8190, 8191};
    count = likely ([93.2 6 0.8], {count, 25 + floor(300 * rand ()), pick(thousands)});
  endif
endfunction

## Options that go with the inputs and with each other.
function c = options (c, values, world)
  [of_line, sweeps, float, real] = deal (c.letter != "c", c.letter != "d", isfloat (c.x), isreal (c.x));
  [x, count] = deal (c.x, max (numel (c.filters), 1));
  pairs = cell (0, 2);
  if (sweeps && float && chance (0.3))
    c.v.p = cast (some (values, size (x)), class (x));
    every = pick ({1, 1, 2, 2, 3, 5});
    if (real && chance (0.6))
      pairs = {"Previous", like(c); "Weight", pick({"-1", "-1", "-1", "1", "0", "-0", "0.5", "-0.25", "2", "0.1", ...
               "-1/3", "true", "int8 (-1)", "single (0.1)", "Inf", "NaN", "1e-300", "1:1", "DeviceArray (2)"})};
      c.nout = 1 + chance (0.6);
    endif
    pairs = [pairs; some_of({
      0.45 * real, "Source", {like(c), like(c), "0", "-0", "1", "-3", "0.1", "true", "int8 (-3)", "single (0.1)", "Inf", "DeviceArray (-5)"}
      0.45 + 0.45 * ! real, "Every", {sprintf(pick ({"%d", "%d", "int8 (%d)", "single (%d)"}), every)}})];
    if (any (strcmp (pairs(:,1), "Every")))
      pairs(end+1,:) = {"Iterations", num2str(every * pick ({0, 1, 1, 2, 2, 3, 4, 7}))};
    endif
  endif
  parts = ! isempty (pairs) || count > 1;
  n = 1;
  if (sweeps && ! any (strcmp (pairs(:,1), "Iterations")) && chance (merge (numel (x) > 30000, 0.7, 0.3)))
    pairs(end+1,:) = {"Iterations", iterations(numel (x), values)};
  endif
  at = find (strcmp (pairs(:,1), "Iterations"));
  if (! isempty (at))
    n = double (eval (pairs{at,2}));
  endif
  c.work = work (c, n, parts, world);

  ## A call of all ranks, here one, takes arrays of any size along lines, and otherwise those of three dimensions.
  any_size = of_line && (! sweeps || isa (x, "double") ...
                         && all (cellfun (@(k) isa (k, "double") && any (numel (k) == 1:2:21), c.filters(:))));
  joint = world.ranks && ! parts && float && real && (any_size || ndims (x) <= 3) && chance (0.04);
  shaped = sweeps && ! parts && ! joint && n <= 1 && chance (0.2);
  many = of_line && count > 1 && chance (0.6);
  dims = mat2str (ceil (3.3 * rand (1, count)));
  on_gpu = world.devices > 0 && ! strcmp (world.backend, "cpu");
  one = c.held || joint;
  there = 0.06 * (world.devices > 0 && (on_gpu || ! c.held));
  pairs = [pairs; some_of({
    joint, "Distributed", [{"true", "true", "1", "2", "single (2)", "uint8 (3)"}, when(any_size, {"4", "7", "64"})]
    0.01 * ! joint, "Distributed", {"false"}
    shaped, "Shape", texts({"same", "full", "full", "valid"})
    0.03 * (sweeps && ! shaped), "Shape", texts({"same"})
    many, "Dim", {dims, [dims ".'"], ["uint8 (" dims ")"], ["single (" dims ")"]}
    0.35 * (of_line && count == 1), "Dim", [{"1", "2", "2", "3", "3", "int32 (2)", "single (1)", "true", "2:2"}, ...
      when(! joint, {"4", "5"}), when(! joint && ! shaped, {"2 ^ 32 - 1"})]
    0.65, "Boundary", {sides(c, values, count * many)}
    0.45, "Backend", texts([{"auto"}, when(! joint, {"fastest"}), when(! (c.held && on_gpu), {"cpu", "cpu"}), ...
      when(on_gpu || world.devices > 0 && ! c.held, {"cuda", "cuda"})])
    there, "Device", [{"1", "single (1)"}, when(! one, {"\"all\""}), when(! one && world.devices > 1, {"[1 2]", "[2; 1]"}), ...
      when(! c.held, {num2str(world.devices)})]
    0.12 * sweeps, "Progress", {"true", "false", "1", "0", "int8 (1)"}
    0.3 * ! sweeps, "Coefficients", texts({"constant", "readonly"})})];
  c = named (c, pairs(randperm (rows (pairs)),:));
endfunction

## Names and values of a table of probabilities, names and lists of values.
function pairs = some_of (table)
  table = table(rand (rows (table), 1) < [table{:,1}].',2:3);
  pairs = [table(:,1), cellfun(@(list) list{ceil (rand () * numel (list))}, table(:,2), "UniformOutput", false)];
endfunction

## The options under names of any length, some of them twice, or as imfilter's words.
function c = named (c, pairs)
  if (c.letter != "d")
    for i = rows (pairs):-1:1
      word = any (strcmp (pairs{i,1}, {"Boundary", "Shape"})) && any (pairs{i,2}(1) == "\"'") ...
             || c.letter == "c" && strcmp (pairs{i,1}, "Boundary") && pairs{i,2}(1) != "{";
      if (word && chance (0.3))
        c.words(end+1,:) = pairs(i,:);
        pairs(i,:) = [];
      endif
    endfor
    if (chance (0.2))
      c.words(end+1,:) = {"flip", text(pick ({"corr", "conv", "conv"}))};
    endif
    c.words = c.words(randperm (rows (c.words)),:);
  endif
  ## The last of two counts.
  twice = {"Backend", "\"auto\""; "Iterations", "7"; "Progress", "true"; "Boundary", "5"; "Coefficients", "'constant'"};
  twice = twice(ismember (twice(:,1), pairs(:,1)) & rand (5, 1) < 0.04,:);
  for pair = [twice; pairs].'
    c.pairs(end+1,:) = {pair{1}, option_name(pair{1}), pair{2}};
  endfor
endfunction

## An array of the samples' class and size, in the same place; for a DeviceArray it may be an ordinary one, too.
function code = like (c)
  code = pick ({"v.p", "v.p", "v.p(:,:,:,:,:,:,:)", ["(" c.plain ")"], ...
                sprintf("reshape (flipud (vec (%s)), size (%s))", c.plain, c.plain)});
  if (c.held && chance (0.8))
    code = ["DeviceArray (" code ")"];
  endif
endfunction

## Number of sweeps; for large arrays enough for several passes.
function value = iterations (elements, values)
  lists = {{"1", "2"}, {"17", "40", "60", "60"}, {"3", "8", "17", "40", "60"}, {"100", "1000", "3333", "2 ^ 32 - 1"}, ...
           {"0", "1", "2", "2", "3", "3", "4", "5", "int8 (2)", "true", "single (4)", "8", "17", "50"}};
  large = elements > 4000 && chance (0.8);
  value = pick (lists{find ([strcmp(values, "extreme"), large && elements > 30000, large, chance(0.06), true], 1)});
endfunction

## Multiply-adds, or the equivalent in time.
function w = work (c, n, parts, world)
  taps = sum (cellfun (@numel, c.filters(:)));
  elements = numel (c.x);
  w = elements * taps * n;
  if (! isfloat (c.x))
    ## An engine computes the border of integers, too: three times the work for a single row by three rows.
    with_halo = @(filter) prod (postpad (size (c.x), 9, 1) + postpad (size (filter), 9, 1) - 1);
    w = sum (cellfun (@(filter) with_halo (filter) * numel (filter), c.filters(:))) * n;
  endif
  if (strcmp (world.backend, "cuda") && c.letter == "c" && elements > 0)
    ## A GPU does an image by tiles, however few elements it has, and the stand-in does each of a tile.
    w = max (w, prod ([max(size (c.x)(1:2), 32), size(c.x)(3:end)]) * (taps + 10) * n / 10);
  endif
  if (parts && elements > 0 && (n > 200 || elements * n > 1e6))
    w = Inf;
  endif
endfunction

## A boundary: one for all sides, or one for each dimension, each filter or each end.
function value = sides (c, values, count)
  one = @() number_or_word (c, values);
  if (chance (0.75))
    value = one ();
    return;
  endif
  if (c.letter == "c")
    count = pick ({ndims(c.x), max(cellfun (@ndims, c.filters(:)))});
  elseif (count == 0 || chance (0.4) && count != 2)
    value = pair (one);
    return;
  endif
  each = cell (1, count);
  for d = 1:count
    each{d} = ["(" merge(chance (0.4), pair (one), one ()) ")"];
  endfor
  value = ["{" strjoin(each, ", ") "}"];
endfunction

## Both ends go round, or none.
function value = pair (one)
  ends = {one(), one()};
  if (any (strncmpi (ends, "'circular", 9) | strncmpi (ends, "\"circular", 9)))
    ends(:) = {"\"circular\"", "'Circular'"};
  endif
  value = sprintf ("{(%s), (%s)}", ends{:});
endfunction

function value = number_or_word (c, values)
  if (strcmp (values, "extreme") && chance (0.5))
    value = pick ({"1e300", "5e-324", "-realmax", "2 ^ -140", "realmin"});
  elseif (chance (0.65))
    value = text (pick ({"replicate", "symmetric", "mirror", "circular"}));
  elseif (strcmp (values, "int"))
    value = pick ([{"0", "-0", "5", "-7", "Inf", "int8 (-3)", "true", "false", "uint64 (7)", "3:3"}, when(! islogical (c.x), {"NaN"})]);
  else
    value = pick ([{"0", "-0", "1.5", "-7e19", "Inf", "-Inf", "single (0.1)", "int8 (-3)", "true", "uint64 (7)", "0.1", ...
                    "2 ^ -80", "DeviceArray (3)"}, when(! islogical (c.x), {"NaN"})]);
  endif
endfunction

## Small ones: where there is a device they run, and elsewhere there is none.
function c = study (c, world)
  c.which = pick ({"access", "readonly", "angles", "convolution"});
  c.inputs = {text(c.which)};
  pairs = struct (
    "access", {{"Sums", "1000"; "BlockSize", pick({"32", "256", "uint16 (1024)"}); ...
                "Pattern", text(pick ({"pseudo_random", "one_access_per_warp", "one_access_per_block", "one_access_per_thread"}))}}, ...
    "readonly", {{"Points", "2000"; "BlockSize", pick({"64", "single (128)"})}}, ...
    "angles", {{"Threads", pick({"1", "320"})}}, ...
    "convolution", {{"Size", pick({"1", "50"}); "Radius", pick({"1", "7"})}}).(c.which);
  if (world.devices > 0)
    pairs(end+1,:) = {"Device", "1"};
  else
    c.due = "noDevice";
  endif
  for i = randperm (rows (pairs))
    ## The size is never left out: without it a study takes seconds.
    if (i == 1 || chance (0.6))
      c.pairs(end+1,:) = {pairs{i,1}, option_name(pairs{i,1}), pairs{i,2}};
    endif
  endfor
endfunction

## The environment says nothing, or something that makes sense.
function c = environment (c, world)
  c.env = {"STENCIL_BACKEND", world.backend; "STENCIL_THREADS", ""; "STENCIL_DEVICE_BYTES", ""};
  c.settings = struct ("backend", world.backend, "threads", Inf, "bytes", 2 ^ 28, "bad", false);
  tables = {{"cpu", "cpu"; "CPU ", "cpu"; "auto", "auto"; " Auto", "auto"; "", "auto"; "Fastest", "fastest"; "cuda", "cuda"}, ...
            {"1", 1; "2", 2; "3", 3; " 8", 8; "1e1", 10; "", Inf}, {"65536", 65536; "1e6", 1e6; "100000", 1e5; "", 2 ^ 28}};
  tables{1} = tables{1}(1:end-(world.devices == 0 && c.letter != "i"),:);
  for i = find (rand (1, 3) < 0.5 * chance (0.25))
    [c.env{i,2}, c.settings.(fieldnames (c.settings){i})] = tables{i}(ceil (rand () * rows (tables{i})),:){:};
  endfor
endfunction

## --- Names and words -----------------------------------------------------------

## An option's name in full or shortened, in any case. Several share a beginning, and then the older one has the short
## name.
function code = option_name (option)
  persistent least = struct ("Backend", 2, "Boundary", 2, "Device", 2, "Dim", 2, "Previous", 3, "Source", 2, "Distributed", 3);
  short = numel (option);
  if (chance (0.4))
    short = 1;
    if (isfield (least, option))
      short = least.(option);
    endif
    short += floor (rand () * (numel (option) - short + 1));
  endif
  code = text (option(1:short));
endfunction

function codes = texts (words)
  codes = cellfun (@text, words, "UniformOutput", false);
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
  quote = merge (chance (0.4), "'", "\"");
  code = [quote, word, quote];
endfunction

## --- Arrays ----------------------------------------------------------------------

function dims = dims_of (size_of, most)
  persistent lengths = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 19, 20, 21, 22, 23, 29, 31, 32, 33, ...
                        37, 39, 40, 41, 43, 47, 63, 64, 65, 83, 84, 85, 97, 101, 127, 128, 129, 131, 255, 256, 257, ...
                        511, 512, 513, 521, 639, 640, 641, 643, 1023, 1024, 1025, 1031, 4095, 4096, 4097, 4099];
  bound = struct ("tiny", 24, "small", 400, "middle", 5000, "long", 0, "large", 0).(size_of);
  n = 4000 + floor (16000 * rand ()) + chance (0.5) * (30000 + floor (60000 * rand ()));
  if (strcmp (size_of, "long"))
    dims = pick ({[1, n], [n, 1], [n, 2], [3, n]});
  elseif (strcmp (size_of, "large"))
    dims = pick ({[1, 2e5], [2e5, 1], [331, 307], [7, 20011], [20011, 7], [3, 2, 20000], [64, 1, 2048], ...
                  [41, 43, 59], [1, 16384], [16384, 5], [4096, 33], [1, 65537]});
  elseif (chance (0.06))
    dims = pick ({[0, 0], [0, 3], [3, 0], [1, 0], [0, 1], [2, 0, 3], [5, 3, 0], [0, 1, 4]});
  else
    n = 2 + floor (rand () ^ 2 * (most - 1) * ! strcmp (size_of, "tiny"));
    free = likely ([4 40 10 40], {[], pick({1, 2, 2}), 2:n, 1:n});
    dims = ones (1, max ([2, free]));
    for d = free(randperm (numel (free)))
      in_bound = lengths(lengths <= bound);
      dims(d) = in_bound(ceil (rand () ^ (1 + 0.3 * (numel (free) > 1)) * numel (in_bound)));
      bound /= dims(d);
    endfor
  endif
endfunction

function x = some (values, dims)
  odd = [];
  switch (values)
    case "int"
      x = floor (19 * rand (dims)) - 9;
    case "unit"
      x = 2 * rand (dims) - 1;
    case "noise"
      x = (rand (dims) - 0.5) .* 2 .^ floor (40 * rand (dims) - 20);
    case "special"
      x = (rand (dims) - 0.5) .* 2 .^ floor (8 * rand (dims) - 4);
      [odd, share] = deal ([NaN, Inf, -Inf, -0, 0, 1, -1], 0.08);
    case "extreme"
      x = (rand (dims) - 0.5) .* 2 .^ pick ({-1070, -540, -500, 500, 1020, 1023});
      [odd, share] = deal ([realmin, realmax, -realmax, 2 ^ -1074, -(2 ^ -1074), realmin - 2 ^ -1074, -0, Inf, 1], 0.3);
  endswitch
  if (! isempty (odd))
    some = rand (dims) < share;
    x(some) = odd(ceil (numel (odd) * rand (nnz (some), 1)));
  endif
endfunction

## --- The statement -----------------------------------------------------------------

## Inputs, their values, the options that they say, and a statement with them.
function c = assembled (c)
  pairs = c.pairs(:,2:3).';
  c.inputs = [c.inputs, c.words(:,2).', pairs(:).', c.tail];
  n = numel (c.inputs);
  v = c.v;
  c.a = {};
  if (n > 0)
    ## In parentheses, since a space parts elements there.
    c.a = eval (["{(" strjoin(c.inputs, "), (") ")}"]);
  endif
  c.same &= n > 1 && strcmp (c.inputs{1}, c.inputs{min (2, end)});
  if (c.same)
    c.a{2} = c.a{1};
  endif
  c.options = struct ();
  if (isempty (c.due))
    first = numel (c.a) - 2 * rows (c.pairs) - rows (c.words);
    for i = 1:rows (c.words)
      c.options.(c.words{i,1}) = c.a{first+i};
    endfor
    for i = 1:rows (c.pairs)
      c.options.(c.pairs{i,1}) = c.a{first+rows (c.words)+2*i};
    endfor
  endif

  words = strsplit (strtrim (sprintf ("a{%d} ", 1:n)), " ")(1:n);
  ## A DeviceArray is made before, where the environment makes sense.
  direct = rand (1, n) < 0.35 & cellfun (@isempty, strfind (c.inputs, "DeviceArray"));
  words(direct) = c.inputs(direct);
  if (c.same)
    words(1:2) = {"a{1}", "a{1}"};
  endif
  list = strjoin (words, ", ");
  call = sprintf ("%s (%s)", c.name, list);
  by_name = sprintf ("feval (\"%s\"%s)", c.name, sprintf (", %s", words{:})(1:(n > 0) * end));
  quoted = strrep (strrep (call, "\\", "\\\\"), "\"", "\\\"");
  if (c.nout == 0)
    c.statement = [pick({call, call, by_name}), "; y = ans;"];
  elseif (c.nout > 1)
    c.statement = sprintf ("o = cell (1, %d); [o{:}] = %s; [y, z] = o{1:2};", c.nout, call);
    if (c.nout == 2 && chance (0.5))
      c.statement = sprintf ("[y, z] = %s;", call);
    endif
  elseif (chance (0.6))
    c.statement = sprintf ("y = %s;", call);
  else
    c.statement = pick ({
      sprintf("y = %s;", by_name), sprintf("y = %s;", strrep (by_name, ["\"" c.name "\""], ["@" c.name])), ...
      sprintf("h = @%s; y = h (%s);", c.name, list), sprintf("g = @() %s; y = g ();", call), ...
      sprintf("s = evalc (\"y = %s;\");", quoted), ...
      sprintf("g = {%s}; y = %s (g{:});", sprintf ("(%s), ", words{:})(1:(n > 0) * end), c.name), ...
      sprintf("unwind_protect, t.u{2} = %s; y = t.u{2}; unwind_protect_cleanup, t = 0; end_unwind_protect", call), ...
      sprintf("try, y = %s; catch e, rethrow (e); end_try_catch", call), ...
      sprintf("y = cellfun (@(w) %s (w%s), {%s}(1), \"UniformOutput\", false){1};", c.name, ...
              sprintf (", %s", words{2:end})(1:(n > 1) * end), sprintf ("(%s), ", words{:})(1:(n > 0) * end))}(1:end-(n == 0)));
  endif
endfunction

## --- Chance ------------------------------------------------------------------------

function yes = chance (p)
  yes = rand () < p;
endfunction

function one = pick (list)
  one = list{ceil (rand () * numel (list))};
endfunction

function one = likely (weights, list)
  one = list{find (rand () * sum (weights) < cumsum (weights), 1)};
endfunction

## The list if the condition holds, and else an empty one.
function list = when (condition, list)
  list = list(1:condition * end);
endfunction
