## Errors that all functions with options share, and those of StencilConstantMemory_CUDA: identifier, opening words,
## order. `fails` also checks the opening words and makes an ordinary call after each error.

%!shared f, x, k, calls
%! f = "StencilConstantMemory_CUDA";
%! x = 1:5;
%! k = [1 2 1];
%! ## Each function, with its arguments before the options.
%! calls = {
%!   f,                                {x, k}
%!   "DerivativeConstantMemory_CUDA",  {x, 0.5}
%!   "DerivativeConstantMemory_CUDA",  {single(x)}
%!   "ConvolutionConstantMemory_CUDA", {x, k}
%!   };

## Octave's own form, once for each kind of error that needs no GPU to be seen.
%!error id=StencilConstantMemory:numberOfInputs StencilConstantMemory_CUDA ()
%!error id=StencilConstantMemory:numberOfOutputs [a, b] = StencilConstantMemory_CUDA (x, k);
%!error id=StencilConstantMemory:dataType StencilConstantMemory_CUDA (int8 (x), k)
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

%!test # every class but double and single, as the input, the taps, and both; sparse ones; complex taps
%! [all, no_floats] = no_real_floats ();
%! for v = no_floats
%!   fails (f, "dataType", {v{1}, k});
%!   fails (f, "dataType", {v{1}, single(k)});
%! endfor
%! for v = all
%!   fails (f, "dataType", {x, v{1}});
%!   fails (f, "dataType", {single(x), v{1}});
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
%! for dims = {[2 2], [3 3], [3 7], [2 3], [5 5], [11 2], [1 1 3], [1 3 3], [3 1 3], [1 1 1 5], [1 1 2], [100 100], [2 5000]}
%!   fails (f, "kernelShape", {x, ones(dims{1})});
%!   fails (f, "kernelShape", {complex(x, x), single(ones (dims{1}))});
%! endfor
%! fails (f, "kernelShape", {x, eye(3)});
%! fails (f, "kernelShape", {x, eye(3)([2 1 3],:)});

%!test # more than 8191
%! for m = [8192, 8193, 1e5, 1e5 + 1]
%!   fails (f, "kernelLength", {x, ones(1, m)});
%!   fails (f, "kernelLength", {single(x), ones(m, 1)});
%!   fails (f, "kernelLength", {complex(x, x), ones(m, 1, "single")});
%!   fails (f, "kernelLength", {x, {k, ones(1, m)}});
%! endfor

%!test # the text says how many there may be, and what is for more
%! for array = {rand(1, 1e4), ones(2), single(ones (3, 1, 2)), zeros(0, 3)}
%!   text = fails (f, "kernelLength", {array{1}, ones(1, 8192)});
%!   for expected = {"kernelArray is 1x8192 double", "has 8192 taps", "a vector of 1 to 8191 taps", "fftfilt"}
%!     assert (! isempty (strfind (text, expected{1})), "nothing of <%s> in <%s>", expected{1}, text);
%!   endfor
%!   text = fails (f, "kernelLength", {array{1}, {k, ones(9001, 1)}});
%!   assert (! isempty (strfind (text, "kernelArray{2} is 9001x1 double")), text);
%! endfor

%!test # inputs that look swapped
%! for taps = {1:21, (1:5)', 7, 1:4, single(1:8191), complex(1:3, 1)}
%!   text = fails (f, "kernelLength", {taps{1}, ones(1, 8192)});
%!   assert (! isempty (strfind (text, "swapped")) && isempty (strfind (text, "fftfilt")), text);
%! endfor
%! for array = {1:8192, ones(2), zeros(1, 0), ones(1, 1, 8193)}
%!   text = fails (f, "kernelLength", {array{1}, ones(1, 8192)});
%!   assert (isempty (strfind (text, "swapped")), text);
%! endfor

%!test # 8191 are allowed, an even number, and one tap too
%! for m = [8191, 8190, 22, 23, 2, 1]
%!   assert (StencilConstantMemory_CUDA (2, 3 * ones (1, m)), 6);
%!   assert (StencilConstantMemory_CUDA (single (2), 3 * ones (m, 1)), single (6));
%! endfor

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
%! wrong = int8 (1);
%! chain = {
%!   ## arguments                                         outputs  identifier
%!   {wrong},                                                   2, "numberOfInputs"
%!   {},                                                        2, "numberOfInputs"
%!   {wrong, [], "Backend"},                                    2, "numberOfInputs"
%!   {wrong, ones(2), 7, 8},                                    2, "numberOfInputs"
%!   {x, ones(1, 8192), "Backend"},                             1, "numberOfInputs"
%!   {wrong, ones(1, 8192), "Colour"},                          2, "option"
%!   {x, k, "Colour", 1, "Backend"},                            1, "numberOfInputs"
%!   {x, k, "Colour", 1, 7, 8},                                 1, "numberOfInputs"
%!   {wrong, []},                                               2, "numberOfOutputs"
%!   {x, ones(2)},                                              2, "numberOfOutputs"
%!   {x, k, "Colour", 1},                                       2, "numberOfOutputs"
%!   {wrong, k, "Device", 0},                                   2, "numberOfOutputs"
%!   {wrong, []},                                               1, "dataType"
%!   {x, int8([])},                                             1, "dataType"
%!   {x, complex(ones(2), 1)},                                  1, "dataType"
%!   {x, {ones(2), 1i}},                                        1, "dataType"
%!   {x, true(1, 4)},                                           1, "dataType"
%!   {wrong, ones(1, 8192), "Colour", 1},                       1, "dataType"
%!   {x, sparse(4, 4), "Backend", 1},                           1, "dataType"
%!   {x, zeros(0, 4), "Colour", 1},                             1, "kernelLength"
%!   {x, zeros(2, 2, 0), "Backend", "cuda", "Device", 99},      1, "kernelLength"
%!   {x, ones(2, 2), "Colour", 1},                              1, "kernelShape"
%!   {x, ones(5, 5), "Device", 0},                              1, "kernelShape"
%!   {x, ones(2, 12)},                                          1, "kernelShape"
%!   {x, ones(1, 8192), "Backend", 1},                          1, "kernelLength"
%!   {x, ones(8193, 1), "Backend", "cuda", "Device", 99},       1, "kernelLength"
%!   {complex(x, 1), {1, []}, "Previous", x, "Weight", 1},      1, "kernelLength"
%!   {x, k, "Backend", "cuda", "Device", 99, "Colour", 1},      1, "option"
%!   {x, k, "Backend", "cuda", "Device", 99, "B", 1},           1, "option"
%!   {x, k, "Device", 99, "Backend", "none"},                   1, "option"
%!   {[], ones(1, 8192)},                                       1, "kernelLength"
%!   {[], k, "Colour", 1},                                      1, "option"
%!   {x, k, "Backend", "cuda", "Device", 99, "Dim", 0},         1, "option"
%!   {x, ones(1, 8192), "Boundary", "foo"},                     1, "kernelLength"
%!   {[], k, "Iterations", -1},                                 1, "option"
%!   {x, k, "Iterations", 0, "Boundary", "foo"},                1, "option"
%!   {x, k, "Iterations", 0, "Backend", "auto", "Device", 99},  1, "noDevice"
%!   {[], k, "Backend", "auto", "Device", 99},                  1, "noDevice"
%!   {complex(x, 1), 1:4, "Source", 1, "Device", 99},           1, "option"
%!   {complex(x, 1), 1:30, "Every", 1, "Device", 99},           1, "noDevice"
%!   {single(x), 1:4, "Backend", "auto", "Device", 99},         1, "noDevice"
%!   };
%! for i = 1:rows (chain)
%!   fails (f, chain{i,3}, chain{i,1}, chain{i,2});
%! endfor

## --- The texts say what was got ----------------------------------------------

%!test
%! cases = {
%!   {x},                               "1"
%!   {uint8(x), k},                     "uint8"
%!   {uint8(x), k},                     "a real full double or single array; double (inputArray)"
%!   {x, int8(k)},                      "int8"
%!   {"abc", k},                        "char"
%!   {{1}, k},                          "cell"
%!   {sparse(x), k},                    "sparse"
%!   {x, 1i},                           "complex"
%!   {x, k + 1i},                       "pass real (kernelArray) and imag (kernelArray)"
%!   {x, ones(1, 8192)},                "1x8192"
%!   {x, ones(1, 8192)},                "8191"
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
%! bad = {{}, {x}, {int8(x), k}, {x, []}, {x, ones(2)}, {x, 1:8192}, {x, k, "Colour", 1}, ...
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
%! b = noise (2, 1, 8192);
%! keep = {a + 0, b + 0};
%! fails (f, "kernelLength", {a, b});
%! fails (f, "option", {a, b(1:3), "Colour", 1});
%! assert (same_bits (a, keep{1}) && same_bits (b, keep{2}));

## --- Complex arrays: what does not go with them ------------------------------

%!test # a second level, a source, ranks; complex filters; complex arrays on a device
%! z = complex (x, 1);
%! names = {f, "inputArray"; "ConvolutionConstantMemory_CUDA", "N"};
%! for call = names.'
%!   [name, array] = call{:};
%!   for z_of_class = {z, single(z)}
%!     for option = {{"Previous", z_of_class{1}, "Weight", 1}, {"Previous", x, "Weight", 1}, {"Source", 1}, {"Source", z}}
%!       for filter = {k, 1:30, single(k), {k, k}}
%!         text = fails (name, "option", [z_of_class, filter, option{1}]);
%!         assert (! isempty (strfind (text, sprintf ("real (%s) and imag (%s)", array, array))), text);
%!       endfor
%!     endfor
%!   endfor
%!   fails (name, "dataType", {x, complex(k, 0)});
%!   fails (name, "dataType", {z, complex(single (k), 0)});
%!   fails (name, "dataType", {z, {k, z}});
%!   fails (name, "dataType", {sparse(z), k});
%! endfor
%! try
%!   DeviceArray (z);
%!   error ("no error");
%! catch err
%!   assert (err.identifier, "DeviceArray:dataType");
%! end_try_catch
%! text = fails ("DerivativeConstantMemory_CUDA", "dataType", {x, 1i});
%! assert (! isempty (strfind (text, "h is")), text);
