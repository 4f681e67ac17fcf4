## What all functions with options refuse in the same way, and what else
## StencilConstantMemory_CUDA refuses: identifier, opening words, order.
## `fails` also looks at the opening words and makes an ordinary call after each error.

%!shared f, x, k, calls
%! f = "StencilConstantMemory_CUDA";
%! x = 1:5;
%! k = [1 2 1];
%! ## Each function, with what it may be given before its options.
%! calls = {
%!   f,                                {x, k}
%!   "DerivativeConstantMemory_CUDA",  {x, 0.5}
%!   "DerivativeConstantMemory_CUDA",  {single(x)}
%!   "ConvolutionConstantMemory_CUDA", {x, k}
%!   };

## Octave's own form, once for each kind of error that needs no GPU to be seen.
%!error id=StencilConstantMemory:numberOfInputs StencilConstantMemory_CUDA ()
%!error id=StencilConstantMemory:numberOfOutputs [a, b] = StencilConstantMemory_CUDA (x, k);
%!error id=StencilConstantMemory:dataType StencilConstantMemory_CUDA (single (x), k)
%!error id=StencilConstantMemory:kernelLength StencilConstantMemory_CUDA (x, [])
%!error id=StencilConstantMemory:kernelShape StencilConstantMemory_CUDA (x, ones (3))
%!error id=StencilConstantMemory:option StencilConstantMemory_CUDA (x, k, "Colour", 1)
%!error <Number of Inputs are Wrong> StencilConstantMemory_CUDA (x)
%!error <Number of Outputs are Wrong> [a, b] = StencilConstantMemory_CUDA (x, k);
%!error <One of the Inputs are of the wrong data-type> StencilConstantMemory_CUDA ("abc", k)

## --- numberOfInputs ----------------------------------------------------------

%!test # fewer than two
%! fails (f, "numberOfInputs", {});
%! fails (f, "numberOfInputs", {}, 0);
%! fails (f, "numberOfInputs", {x});

%!test # a name without a value, be the name good or ambiguous
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   for option = {"Backend", "backend", "Device", "B", "D", "Boundary", "Iterations", "Progress"}
%!     ## The derivative sweeps once.
%!     if (! strcmp (option{1}, "Iterations") || ! strncmp (name, "Deriv", 5))
%!       fails (name, "numberOfInputs", [inputs, option]);
%!       fails (name, "numberOfInputs", [inputs, {"Backend", "cpu"}, option]);
%!     endif
%!   endfor
%!   fails (name, "numberOfInputs", [inputs, {"Colour", 1, "Backend"}]);
%! endfor

%!test # a text that stands alone and is no name: a word where there are words
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   id = "option";
%!   if (strncmp (name, "Deriv", 5))
%!     id = "numberOfInputs";
%!   endif
%!   for text = {"cpu", "Colour", "symetric"}
%!     fails (name, id, [inputs, text]);
%!     fails (name, id, [inputs, {"Backend", "cpu"}, text]);
%!     fails (name, id, [inputs, text, {"Backend", "cpu"}]);
%!   endfor
%! endfor

%!test # no text where a name belongs
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   for no_name = {5, [], 1:3, single(1), int8(66), true, {"Backend"}, {}, struct(), ...
%!                  @sin, ["Backend"; "Backend"], ("Backend")', sparse(1), 1i}
%!     fails (name, "numberOfInputs", [inputs, {"Backend", "cpu"}, no_name, {"cpu"}]);
%!     if (numel (inputs) == 2)
%!       ## A number alone is imfilter's boundary there.
%!       is_boundary = isscalar (no_name{1}) && isreal (no_name{1}) && ! issparse (no_name{1}) ...
%!                     && (isnumeric (no_name{1}) || islogical (no_name{1}));
%!       if (! (is_boundary && strcmp (name, "ConvolutionConstantMemory_CUDA")))
%!         fails (name, "numberOfInputs", [inputs, no_name]);
%!         fails (name, "numberOfInputs", [inputs, no_name, {"cpu"}]);
%!       endif
%!     endif
%!   endfor
%!   ## An empty text is text, but the start of every name.
%!   fails (name, {"numberOfInputs", "option"}, [inputs, {"", "cpu"}]);
%!   fails (name, {"numberOfInputs", "option"}, [inputs, {'', "cpu"}]);
%! endfor

## --- numberOfOutputs ---------------------------------------------------------

%!test
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   for nout = [2 3 10]
%!     fails (name, "numberOfOutputs", inputs, nout);
%!   endfor
%!   fails (name, "numberOfOutputs", [{[]}, inputs(2:end)], 2);
%!   fails (name, "numberOfOutputs", [inputs, {"Backend", "cpu"}], 2);
%! endfor

## --- dataType ----------------------------------------------------------------

%!test # every class but double, as the input, the taps, and both; sparse and complex ones
%! singles = {single(1:3), single([]), single(pi), single(1):single(3), single(eye(3)), ...
%!            zeros(2, 2, 2, "single")};
%! for v = [singles, no_real_floats()]
%!   fails (f, "dataType", {v{1}, k});
%!   fails (f, "dataType", {x, v{1}});
%!   fails (f, "dataType", {v{1}, v{1}});
%! endfor

%!test # what arithmetic narrows to real is welcome
%! assert (StencilConstantMemory_CUDA ([1+1i, 2] .* [1-1i, 1], 1), [2 2]);

## --- kernelLength and kernelShape --------------------------------------------

%!test # empty taps, whatever their shape
%! for dims = {[0 0], [1 0], [0 1], [0 3], [3 0], [0 0 0], [1 0 2], [2 2 0]}
%!   fails (f, "kernelLength", {x, zeros(dims{1})});
%!   fails (f, "kernelLength", {[], zeros(dims{1})});
%! endfor
%! fails (f, "kernelLength", {x, 1:0});

%!test # not a vector, however many taps
%! for dims = {[2 2], [3 3], [3 7], [2 3], [5 5], [11 2], [1 1 3], [1 3 3], [3 1 3], [1 1 1 5], [1 1 2]}
%!   fails (f, "kernelShape", {x, ones(dims{1})});
%! endfor
%! fails (f, "kernelShape", {x, eye(3)});
%! fails (f, "kernelShape", {x, eye(3)([2 1 3],:)});

%!test # even, or more than 21
%! for m = [2:2:22, 23, 24, 25, 99, 100, 101, 1e5, 1e5 + 1]
%!   fails (f, "kernelLength", {x, ones(1, m)});
%!   fails (f, "kernelLength", {x, ones(m, 1)});
%! endfor
%! fails (f, "kernelLength", {x, 1:4});
%! fails (f, "kernelLength", {x, 1:23});

%!test # the text shows the way out: other filters, with the numbers, and what it does is said truly
%! long = rand (1, 300);
%! text = fails (f, "kernelLength", {long, ones(1, 31)});
%! assert (! isempty (strfind (text, "21 and 11 taps")) && ! isempty (strfind (text, "'Iterations', 2 and 17 taps")), text);
%! a = [1:11, 10:-1:1];
%! b = [1:6, 5:-1:1];
%! y = StencilConstantMemory_CUDA (StencilConstantMemory_CUDA (long, a), b);
%! assert (y(16:end-15), conv (long, conv (a, b), "valid"), 1e-9);
%! text = fails (f, "kernelLength", {long, ones(1, 47)});
%! assert (! isempty (strfind (text, "2 calls with 21 taps and one with 7")), text);
%! text = fails (f, "kernelLength", {long, ones(1, 100001)});
%! assert (! isempty (strfind (text, "fftfilt")), text);
%! ## Of an even length: where conv has its middle.
%! text = fails (f, "kernelLength", {long, 1:4});
%! assert (! isempty (strfind (text, "[0 kernelArray]")), text);
%! assert (StencilConstantMemory_CUDA (long, [0, 1:4]), conv (long, fliplr (1:4), "same"), 1e-12);
%! text = fails (f, "kernelLength", {long, (1:4)'});
%! assert (! isempty (strfind (text, "[0; kernelArray]")), text);

%!test # inputs that look swapped
%! for taps = {1:21, (1:5)', 7}
%!   text = fails (f, "kernelLength", {taps{1}, ones(1, 22)});
%!   assert (! isempty (strfind (text, "swapped")), text);
%! endfor
%! for array = {1:22, ones(2), zeros(1, 0), ones(1, 1, 30)}
%!   text = fails (f, "kernelLength", {array{1}, ones(1, 23)});
%!   assert (isempty (strfind (text, "swapped")), text);
%! endfor

%!test # 21 is allowed, and one tap too
%! assert (StencilConstantMemory_CUDA (2, ones (1, 21)), 2);
%! assert (StencilConstantMemory_CUDA (2, 3), 6);

## --- option: names and values ------------------------------------------------

%!test # names that are no option
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   for option = {"Colour", "Backends", "Backendd", "ackend", "backend ", " backend", ...
%!                 "Device1", "X", "cpu", "cuda", "Boundary0", "-", "%s%n%d", ...
%!                 repmat("B", 1, 5000), ["Back" char(0) "end"], char([195 169])}
%!     fails (name, "option", [inputs, option, {"cpu"}]);
%!     fails (name, "option", [inputs, {"Backend", "cpu"}, option, {"cpu"}]);
%!   endfor
%! endfor

%!test # a prefix that two of the names share
%! for name = {"B", "b", "D", "d"}
%!   fails (f, "option", {x, k, name{1}, "cpu"});
%!   fails (f, "option", {x, k, name{1}, 1});
%! endfor

%!test # any case, any prefix that only one name has
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   want = feval (name, inputs{:});
%!   for option = {"Backend", "backend", "BACKEND", "bAcKeNd", "Back", "ba", "BA", 'Backen'}
%!     for value = {"cpu", "CPU", "Cpu"}
%!       assert (feval (name, inputs{:}, option{1}, value{1}), want);
%!     endfor
%!   endfor
%!   ## Device has no value that is right everywhere: a number too high shows that
%!   ## the name was understood.
%!   for option = {"Device", "device", "DEVICE", "Dev", "dev", "de", "DE"}
%!     fails (name, "noDevice", [inputs, {"Backend", "auto"}, option, {99}]);
%!   endfor
%! endfor

%!test # values of Backend
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   for value = {"gpu", "cpus", "cpu ", " cpu", "c", "none", 1, 0, [], true, {"cpu"}, ...
%!                {}, struct(), @sin, ["cpu"; "cpu"], ("cpu")', single(1), 1i, sparse(1), ...
%!                "%s%s%n", repmat("cpu", 1, 3000), ["cpu" char(0)]}
%!     fails (name, "option", [inputs, {"Backend"}, value]);
%!     fails (name, "option", [inputs, {"back"}, value]);
%!   endfor
%! endfor

%!test # values of Device: a whole number from 1, some of them, each once, or all
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   for value = {0, -1, 1.5, 0.5, NaN, -Inf, [1 1.5], [1; 1], [2 0], single([1 2]), [], zeros(1, 0), "a", "1", ...
%!                'one', {1}, {}, struct(), @sin, 1i, complex(1, 0), sparse(1), ...
%!                ones(2, 2, 2), 1e-300, -0}
%!     fails (name, "option", [inputs, {"Backend", "auto", "Device"}, value]);
%!     fails (name, "option", [inputs, {"Device"}, value]);
%!   endfor
%! endfor

%!test # a number that no machine has never falls back
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   for value = {99, 1000, 2 ^ 31, 2 ^ 32 + 1, 2 ^ 53, Inf}
%!     fails (name, {"noDevice", "option"}, [inputs, {"Backend", "auto", "Device"}, value]);
%!     fails (name, {"noDevice", "option"}, [inputs, {"Backend", "cuda", "Device"}, value]);
%!   endfor
%!   for backend = {"auto", "cuda", "cpu", "fastest"}
%!     fails (name, "noDevice", [inputs, {"Backend"}, backend, {"Device", 99}]);
%!   endfor
%! endfor

%!testif ; ! has_gpu ()  # needs a machine without a usable GPU
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   fails (name, "noDevice", [inputs, {"Backend", "cuda"}]);
%!   fails (name, "noDevice", [inputs, {"backend", "CUDA"}]);
%!   fails (name, "noDevice", [{[]}, inputs(2:end), {"Backend", "cuda"}]);
%!   fails (name, "noDevice", [inputs, {"Backend", "cuda", "Device", 1}]);
%!   fails (name, "noDevice", [inputs, {"Backend", "auto", "Device", 1}]);
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! n = ConstantMemoryDevice_CUDA ().DeviceCount;
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   want = feval (name, inputs{:}, "Backend", "cpu");
%!   assert (feval (name, inputs{:}, "Device", 1, "Backend", "cuda"), want);
%!   assert (feval (name, inputs{:}, "dev", 1, "back", "Auto"), want);
%!   text = fails (name, "noDevice", [inputs, {"Backend", "cuda", "Device", n + 1}]);
%!   assert (! isempty (strfind (text, sprintf ("%d", n + 1))), text);
%!   fails (name, "noDevice", [inputs, {"Backend", "auto", "Device", n + 1}]);
%! endfor

%!test # values of Boundary: a real number, one of four whole words, or cells of these
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   for value = {"foo", "", "rep", "replicated", "zero", "0", "circular ", [1 2], [1; 2], [], zeros(1, 0), 1i, ...
%!                complex(1, 0), {}, {0}, {"replicate"}, {{0, 1}}, {0, "circular"; 1, 2}, {0, 1, 2}, {[1 2], 0}, cell(1, 2), ...
%!                struct(), @sin, sparse(1), sparse(0), ...
%!                ["circular"; "circular"], ("circular")', single([1 2]), [true false], ones(1, 1, 2), "%s%n", ...
%!                ["circular" char(0)]}
%!     text = fails (name, "option", [inputs, {"Boundary"}, value]);
%!     assert (! isempty (strfind (text, "Boundary")) && ! isempty (strfind (text, "symmetric")), text);
%!     fails (name, "option", [inputs, {"bo"}, value]);
%!   endfor
%! endfor

%!test # values of Dim: a whole number from 1
%! for call = calls(1:3,:).'
%!   [name, inputs] = call{:};
%!   for value = {0, -1, 1.5, NaN, Inf, -Inf, 2 ^ 40, [1 2], [], "1", "rows", {1}, {}, struct(), @sin, 1i, ...
%!                sparse(1), false, int8(-1), single(0.5), ones(2, 2)}
%!     text = fails (name, "option", [inputs, {"Dim"}, value]);
%!     assert (! isempty (strfind (text, "Dim")), text);
%!     fails (name, "option", [inputs, {"di"}, value]);
%!   endfor
%! endfor

%!test # values of Iterations: a whole number from 0
%! for call = calls([1, 4],:).'
%!   [name, inputs] = call{:};
%!   for value = {-1, 1.5, NaN, Inf, -Inf, 2 ^ 53, "3", "many", [1 2], [], {1}, {}, struct(), @sin, 1i, sparse(1), ...
%!                int8(-1), single(0.5), ones(2, 2), 1e-300}
%!     text = fails (name, "option", [inputs, {"Iterations"}, value]);
%!     assert (! isempty (strfind (text, "Iterations")), text);
%!     fails (name, "option", [inputs, {"i"}, value]);
%!   endfor
%! endfor

%!test # values of Progress: true or false, or 1 or 0
%! for call = calls([1, 4],:).'
%!   [name, inputs] = call{:};
%!   for value = {2, -1, 0.5, NaN, Inf, "yes", "true", "on", "", [true true], [], {true}, {}, struct(), @sin, 1i, ...
%!                sparse(true), int8(2)}
%!     text = fails (name, "option", [inputs, {"Progress"}, value]);
%!     assert (! isempty (strfind (text, "Progress")), text);
%!     fails (name, "option", [inputs, {"p"}, value]);
%!   endfor
%! endfor

%!test # options that a function does not have: the text names those that it has
%! missing = {
%!   "DerivativeConstantMemory_CUDA",  {x},    {"Iterations", "iter", "I", "Progress", "p"}
%!   "ConvolutionConstantMemory_CUDA", {x, k}, {"Dim", "dim", "Coefficients", "c"}
%!   "StencilConstantMemory_CUDA",     {x, k}, {"Coefficients", "c"}
%!   };
%! for i = 1:rows (missing)
%!   for option = missing{i,3}
%!     text = fails (missing{i,1}, "option", [missing{i,2}, option, {1}]);
%!     assert (! isempty (strfind (text, "Boundary")), text);
%!   endfor
%! endfor

%!test # prefixes that two names of a function share; D alone is Device where there is no Dim
%! for option = {"B", "b"}
%!   fails ("DerivativeConstantMemory_CUDA", "option", {x, option{1}, 0});
%!   text = fails ("ConvolutionConstantMemory_CUDA", "option", {x, k, option{1}, 0});
%!   assert (! isempty (strfind (text, "ambiguous")), text);
%! endfor
%! for option = {"D", "d"}
%!   text = fails ("DerivativeConstantMemory_CUDA", "option", {x, option{1}, 1});
%!   assert (! isempty (strfind (text, "'Device' or 'Dim'")), text);
%!   fails ("ConvolutionConstantMemory_CUDA", "noDevice", {x, k, option{1}, 99});
%! endfor

## --- Which error comes first where several are due ---------------------------

%!test
%! wrong = single (1);
%! chain = {
%!   ## arguments                                         outputs  identifier
%!   {wrong},                                                   2, "numberOfInputs"
%!   {},                                                        2, "numberOfInputs"
%!   {wrong, [], "Backend"},                                    2, "numberOfInputs"
%!   {wrong, ones(2), 7, 8},                                    2, "numberOfInputs"
%!   {x, ones(1, 4), "Backend"},                                1, "numberOfInputs"
%!   {wrong, ones(1, 4), "Colour"},                             2, "option"
%!   {x, k, "Colour", 1, "Backend"},                            1, "numberOfInputs"
%!   {x, k, "Colour", 1, 7, 8},                                 1, "numberOfInputs"
%!   {wrong, []},                                               2, "numberOfOutputs"
%!   {x, ones(2)},                                              2, "numberOfOutputs"
%!   {x, k, "Colour", 1},                                       2, "numberOfOutputs"
%!   {wrong, k, "Device", 0},                                   2, "numberOfOutputs"
%!   {wrong, []},                                               1, "dataType"
%!   {x, single([])},                                           1, "dataType"
%!   {x, single(ones(2))},                                      1, "dataType"
%!   {x, true(1, 4)},                                           1, "dataType"
%!   {wrong, ones(1, 23), "Colour", 1},                         1, "dataType"
%!   {x, sparse(4, 4), "Backend", 1},                           1, "dataType"
%!   {x, zeros(0, 4), "Colour", 1},                             1, "kernelLength"
%!   {x, zeros(2, 2, 0), "Backend", "cuda", "Device", 99},      1, "kernelLength"
%!   {x, ones(2, 2), "Colour", 1},                              1, "kernelShape"
%!   {x, ones(5, 5), "Device", 0},                              1, "kernelShape"
%!   {x, ones(2, 12)},                                          1, "kernelShape"
%!   {x, ones(1, 2), "Backend", 1},                             1, "kernelLength"
%!   {x, ones(23, 1), "Backend", "cuda", "Device", 99},         1, "kernelLength"
%!   {x, k, "Backend", "cuda", "Device", 99, "Colour", 1},      1, "option"
%!   {x, k, "Backend", "cuda", "Device", 99, "B", 1},           1, "option"
%!   {x, k, "Device", 99, "Backend", "none"},                   1, "option"
%!   {[], ones(1, 4)},                                          1, "kernelLength"
%!   {[], k, "Colour", 1},                                      1, "option"
%!   {x, k, "Backend", "cuda", "Device", 99, "Dim", 0},         1, "option"
%!   {x, ones(1, 2), "Boundary", "foo"},                        1, "kernelLength"
%!   {[], k, "Iterations", -1},                                 1, "option"
%!   {x, k, "Iterations", 0, "Boundary", "foo"},                1, "option"
%!   {x, k, "Iterations", 0, "Backend", "auto", "Device", 99},  1, "noDevice"
%!   {[], k, "Backend", "auto", "Device", 99},                  1, "noDevice"
%!   };
%! for i = 1:rows (chain)
%!   fails (f, chain{i,3}, chain{i,1}, chain{i,2});
%! endfor

## --- The texts say what was got ----------------------------------------------

%!test
%! cases = {
%!   {x},                               "1"
%!   {single(x), k},                    "single"
%!   {x, int8(k)},                      "int8"
%!   {"abc", k},                        "char"
%!   {{1}, k},                          "cell"
%!   {sparse(x), k},                    "sparse"
%!   {x, 1i},                           "complex"
%!   {x, ones(1, 8)},                   "8"
%!   {x, ones(1, 23)},                  "23"
%!   {x, ones(1, 23)},                  "21"
%!   {x, ones(3, 7)},                   "3"
%!   {x, k, "Colour", 1},               "Colour"
%!   {x, k, "Colour", 1},               "Backend"
%!   {x, k, "Backend", "vulkan"},       "vulkan"
%!   {x, k, "Backend", "vulkan"},       "cuda"
%!   {x, k, "Device", 1.5},             "1.5"
%!   {x, k, "Boundary", "foo"},         "foo"
%!   {x, k, "Boundary", [1 2]},         "1x2"
%!   {x, k, "Boundary", 1i},            "complex"
%!   {x, k, "Dim", 1.5},                "1.5"
%!   {x, k, "Iterations", -3},          "-3"
%!   {x, k, "Iterations", "3"},         "char"
%!   {x, k, "Progress", 2},             "2"
%!   };
%! for i = 1:rows (cases)
%!   text = "";
%!   try
%!     StencilConstantMemory_CUDA (cases{i,1}{:});
%!   catch err
%!     text = err.message;
%!   end_try_catch
%!   assert (! isempty (strfind (text, cases{i,2})), ...
%!           "nothing of <%s> in <%s>", cases{i,2}, text);
%! endfor

## --- After errors, the function is as good as new ----------------------------

%!test # the texts are no formats: nothing in them is filled in
%! for call = calls.'
%!   [name, inputs] = call{:};
%!   for option = {"%d", "%s%s%s%s%s%s", "100%", "%n"}
%!     text = fails (name, "option", [inputs, option, {1}]);
%!     assert (! isempty (strfind (text, option{1})), "nothing of <%s> in <%s>", option{1}, text);
%!   endfor
%! endfor

%!test # many errors of all kinds in turn, and right results between them
%! bad = {{}, {x}, {single(x), k}, {x, []}, {x, ones(2)}, {x, 1:4}, {x, k, "Colour", 1}, ...
%!        {x, k, "Backend", "none"}, {x, k, "Device", 0}, {x, k, "Backend", "auto", "Device", 99}};
%! y = fma_stencil (noise (1, 1, 700), k);
%! for i = 1:300
%!   failed = false;
%!   try
%!     StencilConstantMemory_CUDA (bad{1 + mod (i, numel (bad))}{:});
%!   catch
%!     failed = true;
%!   end_try_catch
%!   assert (failed);
%!   assert (same_bits (StencilConstantMemory_CUDA (noise (1, 1, 700), k), y));
%! endfor

%!test # an error leaves the arguments alone
%! a = noise (1, 1, 100);
%! b = noise (2, 1, 4);
%! keep = {a + 0, b + 0};
%! fails (f, "kernelLength", {a, b});
%! fails (f, "option", {a, b(1:3), "Colour", 1});
%! assert (same_bits (a, keep{1}) && same_bits (b, keep{2}));
