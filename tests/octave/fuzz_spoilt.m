## -*- texinfo -*-
## @deftypefn {} {@var{c} =} fuzz_spoilt (@var{c}, @var{world})
## The valid call @var{c} of @code{fuzz_call} with one fault out of a table, or
## two, and the identifier that must come as @code{@var{c}.due}: of two the one
## that the contract names first.
## @end deftypefn

function c = fuzz_spoilt (c, world)
  persistent order = {"rank", "numberOfInputs", "numberOfOutputs", "dataType", "kernelShape", "kernelLength", ...
                      "filterShape", "filterSize", "imageShape", "spacing", "study", "option", "noDevice", ""};
  table = faults (c, world);
  ## Some of the time rare identifiers come as often as the others.
  of_one = find (strcmp (table(:,1), pick (unique (table(:,1)))));
  at = ceil (rand (1 + (rand () < 0.3), 1) * rows (table));
  if (rand () < 0.5)
    at(1) = of_one(ceil (rand () * numel (of_one)));
  endif
  if (any ([table{at,3}]) || strcmp (table{at([1, end]),1}))
    at = at(1);
  endif
  ## The expected one comes last, so that no other fault hides it.
  [~, place] = ismember (table(at,1), order);
  [~, by_place] = sort (place, "descend");
  for row = table(at(by_place),:).'
    [c.due, change] = row{[1, 4]};
    for i = find (cellfun (@is_function_handle, change))
      last = i + find (cellfun (@is_function_handle, [change(i+1:end), {@sin}]), 1) - 1;
      c = change{i} (c, change{i+1:last});
    endfor
  endfor
endfunction

## The faults that the call can have. A row has the identifier; a condition; true for a fault that the contract's order does
## not place, so that it goes with no other one; the change, functions of the call with their other inputs.
function table = faults (c, world)
  persistent junk = {"{}", "{1, \"a\", 3}", "struct ()", "struct (\"a\", {1, 2, 3})", "struct ([])", "@sin", "@(t) t", ...
                     "inputParser ()", "containers.Map ()", "sparse (1:3)", "sparse (5)", "sparse (4, 4)", "sparse ([])", ...
                     "sparse (1000, 1000)", "sparse ([1 0 1i])", "sparse (true)", "\"abc\"", "\"\"", "[\"ab\"; \"cd\"]", "\"abc\"'", ...
                     "repmat (\"cpu\", 1, 3000)", "\"%s%s%n\"", "dir (\"/nonexistent\")", "{\"cpu\"}", "int64 (1:3)", "uint64 (1:2)"};
  persistent complex_ones = {"1i", "complex (1, 0)", "complex (1:3, 0)", "single (1i)", "complex (NaN, Inf)"};
  persistent integers = {"int8 (1:3)", "uint8 (3)", "uint16 (1:3)", "int32 (1:3)", "true", "(1:3) > 2", "logical ([])", ...
                         "int8 ([])", "DeviceArray (int8 (1:3))", "DeviceArray (true (1, 3))"};
  persistent nothing = {"[]", "zeros (1, 0)", "zeros (0, 3)", "ones (8192, 1)", "ones (1, 8192)", "ones (1, 100001)", "single ([])"};
  persistent no_name = {"\"Colour\"", "\"cpu\"", "\"%s%n%d\"", "repmat (\"B\", 1, 5000)", "[\"Back\" char(0) \"end\"]", ...
                        "char ([195 169])", "\"\"", "''", "char (zeros (0, 3))"};
  persistent wrong = wrong_values ();
  of = @(letters) any (c.letter == letters);
  given = @(name) any (strcmp (c.pairs(:,1), name));
  nonsense = pick ({{1, {"gpu", "c", "0"}}, {2, {"0", "many", "-1", "1.5", "1e30", "inf"}}, {3, {"512M", "-1", "0", "nan", "1 2", "0x10"}}});
  [strange, own] = names (c);
  [own, other] = deal (pick (own), pick (own));
  misspelt = strcat ({"'"}, {[own "s"], [own "1"], [own " "], [" " own], own(2:end), [own(1:end-1) "x"]}, {"'"});
  [x, filters] = deal (c.x, max (numel (c.filters), 1));
  [real, float, at] = deal (isreal (x), isfloat (x), world.devices > 0 && ! strcmp (world.backend, "cpu"));
  free = of ("sdc") && ! c.held;
  joint = of ("sdc") && world.ranks;
  alone = joint && filters == 1 && float && real && ! given ("Previous");
  sweeps = of ("sc");
  unlike = {"ones (2, 3, 4, 5, 6)", "{1}", "int8 (1:3)", "\"a\"", "sparse (1:3)", "true (2)", "1i", "num2cell (1)"};
  if (sweeps)
    unlike{end+1} = [{"single", "double"}{1 + isa(x, "single")} " (" c.plain ")"];
    if (float && real)
      unlike(end+1:end+2-c.held) = {["complex (" c.plain ", 0)"], ["DeviceArray (" c.plain ")"]}(1:end-c.held);
    endif
  endif

  table = {
    "numberOfInputs", of("sdcy"), false, {@few, sweeps}
    "numberOfInputs", of("sdcy"), false, {@behind, {"'dev'", "\"Device\""}}
    "numberOfInputs", of("sdcy"), false, {@behind, {"{1}", "@sin", "struct ()", "[\"ab\"; \"cd\"]", "1:3", "{\"Device\"}"}, {"1"}}
    "numberOfInputs", of("i"), false, {@behind, [junk, complex_ones]}
    "numberOfOutputs", true, false, {@outputs}
    "", of("i"), false, {@environment, nonsense{:}}
    "dataType", of("sd"), false, {@input, 1, [junk, integers]}
    "dataType", of("c"), false, {@input, 1, junk}
    "dataType", sweeps, false, {@entry, [junk, integers, complex_ones, {"DeviceArray (1:3)", "{{1, 1}}", "num2cell (ones (1, 65))"}]}
    "dataType", of("d"), false, {@input, 2, {"{1}", "true", "sparse (1)", "1i", "complex (1, 0)", "DeviceArray (1)", "@sin", "struct ()"}}
    "kernelShape", of("s"), false, {@entry, {"ones (2)", "ones (2, 2) / 4", "ones (1, 1, 3)", "ones (3, 3, 2)", "magic (4)", "eye (3)", "ones (91)"}}
    "kernelLength", of("s"), false, {@entry, nothing}
    "kernelLength", of("s"), false, {@input, 2, {"cell (1, 3)"}}
    "filterShape", of("c"), false, {@entry, {"ones (3, 3, 3, 3)", "ones (1, 1, 1, 3)", "ones (100, 1, 1, 100)"}}
    "filterSize", of("c"), false, {@entry, [nothing, {"ones (91)", "ones (21, 20, 20)", "ones (1, 1, 8192)"}]}
    "filterSize", of("c"), false, {@input, 2, {"cell (1, 3)"}}
    "imageShape", (of("c") && joint), true, {@input, 1, {"ones (2, 3, 2, 2)"}, @with, {"Distributed"}, {"true"}}
    "spacing", of("d"), false, {@input, 2, {"0", "-1", "-0.5", "single (-2)", "int8 (0)", "-0", "1e-320"}}
    "spacing", of("d"), false, {@input, 2, {"NaN", "Inf", "-Inf", "[1 2]", "[]", "single ([])"}}
    "spacing", (of("d") && isa(x, "single")), false, {@input, 2, {"1e-39"}}
    "study", of("y"), false, {@input, 1, {"\"accesses\"", "\"\"", "7", "{}", "'acces'", "[\"ab\"; \"cd\"]", "@sin", "{\"access\"}"}}

    ## Names and values of options.
    "option", of("sdcy"), false, {@with, no_name, {"1", "99", "{}"}}
    "option", of("sdcy"), false, {@with, misspelt, {"1", "{}"}}
    "option", of("sdcy"), false, {@with, strange, {"1", "true"}}
    "option", of("sdc"), false, {@with, {"\"B\"", "'b'", "\"D\"", "\"d\""}(1:end-2*of("c")), {"1"}}
    "option", of("sdcy"), false, {@with, {own}, wrong.(own)}
    "option", of("sdcy"), false, {@with, {other}, [wrong.(other), junk, complex_ones]}
    "option", of("y"), false, {@with, {"Device"}, {"[1 2]", "\"all\"", "[]"}}
    "option", of("sdc"), false, {@environment, nonsense{:}}
    "option", (of("sd") && filters == 1), false, {@with, {"Boundary"}, {"{0}", "{0, 1, 2}", "{\"circular\", 0}", "{0, {1, 2}}"}}
    "option", of("c"), false, {@with, {"Boundary"}, {"{0}", "{0, 1, 2, 3, 4, 5}", "{}"}}
    "option", (of("c") && islogical(x)), false, {@with, {"Boundary"}, {"NaN", "{NaN, 0}", "single (NaN)"}}
    "option", of("sd"), false, {@with, {"Dim"}, {sprintf("ones (1, %d)", filters + 1)}}
    ## An array on the device is computed on where it lies.
    "option", c.held, false, {@with, {"Device"}, [{"99", "[1 2]", "\"all\"", "2"}, {"1"}(1:1-at)]}
    "option", c.held, false, {@with, {"Backend"}, {"\"cuda\"", "'CUDA'"; "\"cpu\"", "'Cpu'"}(1 + at,:)}
    "noDevice", (free || of("y")), false, {@with, {"Device"}, {"99", "2 ^ 31", "2 ^ 32 - 1"}}
    "noDevice", (free && ! given("Distributed")), false, {@with, {"Device"}, {"[1 99]", "[99; 98]"}}
    "noDevice", (free && world.devices == 0), false, {@with, {"Device"}, {"1", "\"all\""}(1:2-given("Distributed"))}
    "noDevice", (free && world.devices == 0), false, {@with, {"Backend"}, {"\"cuda\"", "'CUDA'"}}
    "noDevice", (free && world.devices == 0 && ! given("Backend")), false, {@environment, 1, {"Cuda", "cuda"}}

    ## Ranks.
    "rank", (of("sdc") && ! world.ranks), true, {@with, {"Distributed"}, {"true", "1", "3", "0"}}
    "option", (joint && ! (of("c") && ndims(x) > 3)), true, {@with, {"Distributed"}, wrong.Distributed}
    "option", (joint && ! (of("c") && ndims(x) > 3) && ! alone), true, {@with, {"Distributed"}, {"true", "1"}}
    "option", ((of("c") || of("s") && isa(x, "single")) && alone && ndims(x) <= 3), true, {@with, {"Distributed"}, {"4", "64"}}
    "option", (alone && ndims(x) <= 3), true, {@with, {"Distributed"}, {"1"}, {"Backend"}, {"\"fastest\""}}
    "option", (alone && ndims(x) <= 3), true, {@with, {"Device"}, {"[1 2]", "\"all\""}, {"Distributed"}, {"true"}}
    "option", (alone && ndims(x) <= 3 && sweeps), true, {@with, {"Every", "Source"}, {"1"}, {"Distributed"}, {"1"}}
    "option", (alone && ndims(x) <= 3 && sweeps), true, {@with, {"Distributed"}, {"true"}, {"Shape"}, {"\"full\"", "'valid'"}}

    ## Words behind the filter, and sweeps that are more than a filter.
    "option", sweeps, false, {@words, {"\"mirror\""}, {"'circular'", "\"Mirror\""}}
    "option", sweeps, false, {@words, {"'same'"}, {"\"full\"", "'same'"}}
    "option", sweeps, false, {@words, {"\"corr\""}, {"\"Conv\""}}
    "option", sweeps, false, {@words, {"\"periodic\"", "\"wrap\"", "'nearest'", "\"zero\"", "\"constant\"", "'Reflect'"}}
    "option", sweeps, false, {@words, {"\"symmetric\""}, @with, {"Boundary"}, {"\"mirror\"", "0"}}
    "option", sweeps, false, {@words, {"\"same\""}, @with, {"Shape"}, {"'same'"}}
    "option", sweeps, true, {@words, {"\"symetric\"", "\"reflected\"", "\"half\"", "'cpu'", "\"Bound \""}}
    "option", sweeps, false, {@with, {"Shape"}, {"\"full\"", "'valid'"}, {"Iterations"}, {"2"}}
    "option", sweeps, false, {@with, {"Every"}, {"3"}, {"Iterations"}, {"4", "1", "100"}}
    "option", (sweeps && ! given("Previous")), false, {@with, {"Weight"}, {"1", "-1", "true"}}
    "option", (sweeps && ! given("Previous")), false, {@with, {"Previous"}, {c.plain, "1", "[]"}}
    "option", (sweeps && (filters > 1 || given("Every") || given("Source"))), false, {@with, {"Shape"}, {"\"full\"", "\"Valid\""}}
    "option", (sweeps && ! float), false, {@with, {"Every", "Source"}, {"1"}}
    "option", (sweeps && ! real), false, {@with, {"Source"}, {"1", c.plain}}
    "option", (sweeps && numel(x) != 1), false, {@with, {"Source"}, unlike}
    "option", sweeps, false, {@with, {"Weight"}, {"-1"}, {"Previous"}, unlike}};
  table = table([table{:,2}] != 0,:);
endfunction

## Values that an option never has.
function values = wrong_values ()
  no_count = {"-1", "0.5", "1.5", "NaN", "Inf", "-Inf", "1e300", "5e-324", "2 ^ 53", "2 ^ 32", "\"1\"", "DeviceArray (1)", ...
              "zeros (0, 3)", "ones (2)"};
  words = {"\"gpu\"", "\"cpu \"", "\"c\"", "(\"cpu\")'", "[\"cpu\"; \"cpu\"]", "1", "NaN", "[\"circular\" char(0)]", "\"constan\""};
  values = struct ( ...
    "Backend", {words}, "Coefficients", {words}, "Pattern", {words}, "Progress", {[no_count, {"2", "\"on\""}]}, ...
    "Boundary", {{"\"rep\"", "\"replicated\"", "\"reflect\"", "\"constan\"", "[\"circular\" char(0)]", "1:3", "{{0, 1, 2}, 1}", "{{{0}}, 1}", ...
                  "{{\"circular\", 0}, 1}", "{0, \"zero\"}", "cell (1, 2)", "{{}, 1}", "{\"\", 1}", "{1, [1 2]}", "num2cell (1:65)", "DeviceArray (1:3)"}}, ...
    "Dim", {[no_count, {"0", "ones (1, 65)", "num2cell (1:3)", "1:2 > 0", "[1.5 2]", "-(1:2)"}]}, ...
    "Device", {[no_count, {"0", "[1 1]", "[1; 2.5]", "single ([1 2])", "{1, 2}", "\"al\"", "[0 1]", "true (1, 2)"}]}, ...
    "Iterations", {[no_count, {"[1 2]"}]}, "Every", {[no_count, {"0", "[1 2]"}]}, ...
    "Shape", {{"\"sam\"", "\"half\"", "1", "true", "[\"full\"; \"same\"]"}}, ...
    "Weight", {{"1:2", "1i", "[]", "\"1\"", "{1}", "sparse (1)", "DeviceArray (1:2)"}}, ...
    "Distributed", {{"0", "65", "2 ^ 32 - 1", "[true false]", "1.5", "-1", "\"true\"", "{true}", "true (0, 0)"}}, ...
    "BlockSize", {{"33", "16", "0", "2048", "[32 64]", "1056"}}, "Sums", {{"0", "2 ^ 28 + 1", "0.5"}}, "Points", {{"0", "2 ^ 29"}}, ...
    "Threads", {{"0", "1e300"}}, "Size", {{"0", "16385", "NaN"}}, "Radius", {{"0", "8", "1.5"}});
endfunction

## Options of other functions or studies, and the options of this one that have wrong values.
function [strange, own] = names (c)
  own = {"Backend", "Device", "Boundary", "Iterations", "Progress", "Shape", "Weight", "Every"};
  strange = {"Coefficients", "Pattern", "Radius", "Sums"};
  switch (c.letter)
    case "s"
      own{end+1} = "Dim";
    case "c"
      strange{end+1} = "Dim";
    case "d"
      own = {"Backend", "Device", "Coefficients", "Boundary", "Dim"};
      strange = {"Iterations", "Shape", "Previous", "Every", "Progress", "Sums"};
    case "y"
      all = {"Pattern", "BlockSize", "Sums", "Points", "Threads", "Size", "Radius"};
      own = all({1:3, [4 2], 5, 6:7}{strcmp (c.which, {"access", "readonly", "angles", "convolution"})});
      strange = [setdiff(all, own), {"Backend", "Boundary", "Iterations", "Distributed"}];
  endswitch
endfunction

## --- Changes -------------------------------------------------------------------

## Too few inputs.
function c = few (c, most)
  [c.inputs, c.words, c.pairs, c.tail] = deal (c.inputs(1:floor (rand () * (most + 1))), cell (0, 2), cell (0, 3), {});
endfunction

function c = input (c, at, list)
  c.inputs{at} = pick (list);
endfunction

## A filter, or an entry of a list.
function c = entry (c, list)
  c.inputs{2} = pick (list);
  if (rand () < 0.3)
    entries = repmat ({"1"}, 1, 1 + ceil (3 * rand ()));
    entries(ceil (rand () * end)) = ["(" c.inputs{2} ")"];
    c.inputs{2} = ["{" strjoin(entries, ", ") "}"];
  endif
endfunction

## Options more, each by a list of names and one of values.
function c = with (c, varargin)
  for i = 1:2:numel (varargin)
    name = pick (varargin{i});
    if (isvarname (name))
      name = ["\"" name "\""];
    endif
    c.pairs(end+1,:) = {name(2:end-1), name, pick(varargin{i+1})};
  endfor
endfunction

function c = words (c, varargin)
  for list = varargin
    c.words(end+1,:) = {"", pick(list{1})};
  endfor
endfunction

function c = behind (c, varargin)
  for list = varargin
    c.tail{end+1} = pick (list{1});
  endfor
endfunction

function c = outputs (c)
  c.nout = pick ({3, 10, 2}(1:end-any (strcmp (c.pairs(:,1), "Previous"))));
endfunction

## A variable of the environment: the backend, the threads, or the bytes.
function c = environment (c, at, list)
  c.env{at,2} = pick (list);
  c.settings.bad = true;
endfunction

function one = pick (list)
  one = list{ceil (rand () * numel (list))};
endfunction
