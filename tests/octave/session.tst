## Properties of many calls in one process: memory, clearing, warnings, exit.
## Much of it runs in separate processes (run_octave), since only there the
## first call, the exit and `clear all` can be observed.

## --- Memory --------------------------------------------------------------------

## The first three run in processes whose malloc returns large blocks
## immediately: freed arrays in the heap would hide the effect of a call.
%!testif ; ! isnan (resident ())  # needs /proc
%! ## 10,000 calls lie between the compared figures, three times: a leak of some twenty bytes a call shows. (Of fifty on
%! ## the stand-in for CUDA, in fewer calls.)
%! [status, out] = run_octave ({
%!   "[count, bound] = {1200, 512; 150, 200}{1 + is_small (),:};"
%!   "growth = grows (@() many_calls (count), @() resident ());"
%!   "assert (growth <= bound, 'grew by %d KiB in %d calls', growth, 27 * count);"
%!   "disp ('flat');"}, {"MALLOC_MMAP_THRESHOLD_=65536", "MALLOC_TRIM_THRESHOLD_=65536"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "flat")), out);

%!testif ; ! isnan (resident ())  # needs /proc
%! ## A struct of more than twenty fields a call.
%! [status, out] = run_octave ({
%!   "growth = grows (@() many_queries (300), @() resident ());"
%!   "assert (growth <= 256, 'grew by %d KiB in 1,800 calls', growth);"
%!   "disp ('flat');"}, {"MALLOC_MMAP_THRESHOLD_=65536", "MALLOC_TRIM_THRESHOLD_=65536"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "flat")), out);

%!testif ; ! isnan (resident ()) && ! has_gpu ()  # needs /proc and no GPU, whose driver takes time and memory
%! ## With a separate folder: Octave 9 itself loses some KiB each time it loads
%! ## a MEX file that has a help file in its folder.
%! [status, out] = run_octave ({
%!   "folder = tempname ();"
%!   "mkdir (folder);"
%!   "file = file_in_loadpath ('StencilConstantMemory_CUDA.mex');"
%!   "system (sprintf ('cd \"%s\" && cp *.mex libstencil_mex.so %s', fileparts (file), folder));"
%!   "addpath (folder);"
%!   "[count, bound] = {60, 256; 15, 128}{1 + is_small (),:};"
%!   "growth = grows (@() clear_cycles (count, 'cpu'), @() resident ());"
%!   "used = fileparts (which ('ConvolutionConstantMemory_CUDA'));"
%!   "confirm_recursive_rmdir (false);"
%!   "rmdir (folder, 's');"
%!   "assert (used, folder);"
%!   "assert (growth <= bound, 'grew by %d KiB in %d cycles of use and clear', growth, 3 * count);"
%!   "disp ('flat');"}, {"MALLOC_MMAP_THRESHOLD_=65536", "MALLOC_TRIM_THRESHOLD_=65536"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "flat")), out);

%!testif ; has_gpu ()  # needs a GPU
%! used = @() -ConstantMemoryDevice_CUDA ().AvailableMemory / 1024;
%! count = {250, 30}{1 + is_small ()};
%! growth = grows (@() many_calls (count), used);
%! assert (growth <= 8192, "%d KiB of the GPU's memory went in %d calls", growth, 27 * count);

%!testif ; has_gpu ()  # needs a GPU
%! used = @() -ConstantMemoryDevice_CUDA ().AvailableMemory / 1024;
%! growth = grows (@() clear_cycles (2, "cuda"), used);
%! assert (growth <= 8192, "%d KiB of the GPU's memory went in 6 cycles of use and clear", growth);

%!testif ; ! isnan (resident ()) && system ("prlimit --version >/dev/null 2>&1") == 0  # needs /proc and prlimit
%! ## No room for the output: an error, ours where outputs are lent and else the host's, and no reason to give up lending.
%! [status, out] = run_octave ({
%!   "f = @(x) StencilConstantMemory_CUDA (x, [1 2 1], 'Backend', 'cpu');"
%!   "x = ones (1, 2e7);"
%!   "f (ones (1, 1e6));"
%!   "bytes = 1024 * resident ('VmSize') + 6e7;"
%!   "system (sprintf ('prlimit --pid %d --as=%.0f:', getpid (), bytes));"
%!   "try, y = f (x); disp ('no error'); catch err, printf ('caught <%s>\\n', err.message); end"
%!   "system (sprintf ('prlimit --pid %d --as=unlimited:', getpid ()));"
%!   "y = f (x); assert (y([1 2 end]), [3 4 3]);"
%!   "printf ('works again, <%s>\\n', ConstantMemoryDevice_CUDA ().Outputs);"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (regexp (out, 'caught <.+>', "once")), out);
%! assert (! isempty (strfind (out, "works again")), out);
%! if (! isempty (helper ("lend")))
%!   assert (! isempty (strfind (out, "caught <StencilConstantMemory_CUDA: failed to allocate")), out);
%!   assert (! isempty (strfind (out, "works again, <lent>")), out);
%! endif

## --- clear ---------------------------------------------------------------------

%!test # cleared by name and used again, here and now
%! for i = 1:5
%!   assert (StencilConstantMemory_CUDA (1:4, [1 2 3]), [8 14 20 11]);
%!   clear StencilConstantMemory_CUDA
%!   clear ConstantMemoryDevice_CUDA     # where it was not loaded too
%!   assert (isstruct (ConstantMemoryDevice_CUDA ()));
%!   clear StencilConstantMemory_CUDA
%! endfor

%!test # every way to clear, over and over, and a clean exit
%! ways = {"clear StencilConstantMemory_CUDA", "clear ConstantMemoryDevice_CUDA", ...
%!         "clear DerivativeConstantMemory_CUDA", "clear ConvolutionConstantMemory_CUDA", ...
%!         "clear -f", "clear functions", "clear mex", "clear all", "clear -x nothing", ...
%!         "clear Sten*", "clear *_CUDA", ...
%!         "clear StencilConstantMemory_CUDA; clear ConstantMemoryDevice_CUDA", ...
%!         "clear ConstantMemoryDevice_CUDA; clear StencilConstantMemory_CUDA"};
%! use = {"assert (StencilConstantMemory_CUDA (1:4, [1 2 3]), [8 14 20 11]);", ...
%!        "assert (isstruct (ConstantMemoryDevice_CUDA ()));", ...
%!        "try, StencilConstantMemory_CUDA (1); disp ('no error'); catch, end", ...
%!        "assert (DerivativeConstantMemory_CUDA ([1 1]), [0.8 -0.8]);", ...
%!        "assert (ConvolutionConstantMemory_CUDA (1:4, [1 2 3]), [8 14 20 11]);"};
%! code = {};
%! for i = 1:numel (ways)
%!   code = [code, use(1), ways(i), use(1), use(2), ways(i), use(2), use(1), ways(i), ...
%!           use(3), use(1), use(3), ways(i), ways(i), use(4), use(5), ways(i), use(5), use(4)];
%! endfor
%! code = [code, {"y = StencilConstantMemory_CUDA (ones (300), [1 2 1]); disp (sum (y(:)));"}];
%! [status, out] = run_octave (code);
%! assert (status == 0, "status %d: %s", status, out);
%! assert (isempty (strfind (out, "no error")), out);
%! assert (! isempty (regexp (out, '^359400$', "once", "lineanchors")), out);

%!test # all of the one library: used and cleared in every order, and all still there after
%! [status, out] = run_octave ({"clear_cycles (24, getenv ('STENCIL_BACKEND'));"; "disp ('done');"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "done")), out);
%! clear_cycles (2, getenv ("STENCIL_BACKEND"));
%! ## While one is held, clearing the others leaves it whole.
%! x = noise (1, 1, 3e5);
%! y = StencilConstantMemory_CUDA (x, [1 2 3]);
%! d = DerivativeConstantMemory_CUDA (x);
%! p = ConvolutionConstantMemory_CUDA (x, [1 2 3]);
%! clear StencilConstantMemory_CUDA
%! assert (same_bits (DerivativeConstantMemory_CUDA (x), d));
%! clear DerivativeConstantMemory_CUDA
%! assert (same_bits (ConvolutionConstantMemory_CUDA (x, [1 2 3]), p));
%! clear ConvolutionConstantMemory_CUDA
%! assert (same_bits (StencilConstantMemory_CUDA (x, [1 2 3]), y));
%! assert (same_bits (p, y));

%!test # results outlive what made them
%! [status, out] = run_octave ({
%!   "a = StencilConstantMemory_CUDA (1:4, [1 2 3]);"
%!   "b = StencilConstantMemory_CUDA (ones (1, 3e6), [1 2 3]);"
%!   "clear StencilConstantMemory_CUDA"
%!   "assert (a, [8 14 20 11]);"
%!   "c = b; c(2) = 7; a(1) = 0; assert (b([1 2 end]), [5 6 3]);"
%!   "StencilConstantMemory_CUDA (zeros (1, 3e6), [1 2 3]);"
%!   "assert (b([1 2 end]), [5 6 3]); assert (sum (b), 3e6 * 6 - 4);"
%!   "clear b c; disp ('kept');"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "kept")), out);

%!testif ; ! isnan (resident ("Threads"))  # needs /proc
%! ## The library's own threads end with it.
%! [status, out] = run_octave ({
%!   "ones (300) * ones (300); before = resident ('Threads');"
%!   "for i = 1:3"
%!   "  StencilConstantMemory_CUDA (ones (1, 3e6), ones (1, 21), 'Backend', 'cpu');"
%!   "  DerivativeConstantMemory_CUDA (ones (1, 3e6), 'Backend', 'cpu');"
%!   "  ConvolutionConstantMemory_CUDA (ones (2e3), ones (3), 'Backend', 'cpu');"
%!   "  clear StencilConstantMemory_CUDA DerivativeConstantMemory_CUDA ConvolutionConstantMemory_CUDA"
%!   "  pause (0.1);"
%!   "  assert (resident ('Threads'), before);"
%!   "end"
%!   "disp ('joined');"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "joined")), out);

## --- The warning that there is no GPU ------------------------------------------

%!test # once a process, under its identifier, with a reason; clear or not
%! [status, out] = run_octave ({
%!   "f = @() StencilConstantMemory_CUDA (1:4, [1 2 3]);"
%!   "y = StencilConstantMemory_CUDA (1:4, [1 2 3], 'Backend', 'cpu');"
%!   "assert (! warned ());"
%!   "y = f ();"
%!   "[text, id] = lastwarn ();"
%!   "assert (id, 'StencilConstantMemory:noDevice');"
%!   "assert (numel (text) > 20);"
%!   "assert (y, [8 14 20 11]);"
%!   "lastwarn ('', '');"
%!   "for i = 1:3, f (); end"
%!   "StencilConstantMemory_CUDA (1:4, [1 2 3], 'Backend', 'auto');"
%!   "ConstantMemoryDevice_CUDA ();"
%!   "clear StencilConstantMemory_CUDA"
%!   "StencilConstantMemory_CUDA (1:4, [1 2 3]);"
%!   "clear all"
%!   "StencilConstantMemory_CUDA (1:4, [1 2 3]);"
%!   "assert (! warned ());"
%!   "disp ('once');"}, {"STENCIL_BACKEND=auto", "CUDA_VISIBLE_DEVICES=-1"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "once")), out);
%! said = regexp (out, '^warning: (?!called from)', "match", "lineanchors");
%! assert (numel (said) == 1, "it printed: %s", out);

%!test # by whichever function is called first, under its name, and by no other after it
%! first = {"Derivative", "(1:9)"; "Convolution", "(1:9, 1)"; "Stencil", "(1:9, 1)"};
%! for i = 1:3
%!   call = @(row) sprintf ("y = %sConstantMemory_CUDA %s;", row{:});
%!   id = [first{i,1} "ConstantMemory"];
%!   code = [{call(first(i,:))}, {sprintf("assert (warned ('%s')); lastwarn ('', '');", id)}];
%!   for j = 1:3
%!     code = [code, {call(first(j,:))}];
%!   endfor
%!   code = [code, {"[~, id] = lastwarn ();", ...
%!                  "assert (! strncmp (fliplr (id), fliplr (':noDevice'), 9)); disp ('once');"}];
%!   [status, out] = run_octave (code, {"STENCIL_BACKEND=auto", "CUDA_VISIBLE_DEVICES=-1"});
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (! isempty (strfind (out, "once")), out);
%!   assert (numel (regexp (out, '^warning: (?!called from)', "match", "lineanchors")) == 1, "it printed: %s", out);
%! endfor

%!test # made an error, it is one; the next call works
%! [status, out] = run_octave ({
%!   "warning ('error', 'StencilConstantMemory:noDevice');"
%!   "id = 'none';"
%!   "try, StencilConstantMemory_CUDA (1:4, [1 2 3]); catch err, id = err.identifier; end"
%!   "assert (id, 'StencilConstantMemory:noDevice');"
%!   "warning ('off', 'StencilConstantMemory:noDevice');"
%!   "for i = 1:3, assert (StencilConstantMemory_CUDA (1:4, [1 2 3]), [8 14 20 11]); end"
%!   "try, StencilConstantMemory_CUDA (1); catch err, id = err.identifier; end"
%!   "assert (id, 'StencilConstantMemory:numberOfInputs');"
%!   "disp ('went on');"}, {"STENCIL_BACKEND=auto", "CUDA_VISIBLE_DEVICES=-1"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "went on")), out);

%!test # switched off, it is silent; a wrong call does not use it up
%! [status, out] = run_octave ({
%!   "warning ('off', 'StencilConstantMemory:noDevice');"
%!   "assert (StencilConstantMemory_CUDA (1:4, [1 2 3]), [8 14 20 11]);"
%!   "disp ('silent');"}, {"STENCIL_BACKEND=auto", "CUDA_VISIBLE_DEVICES=-1"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (isempty (strfind (out, "warning:")), out);
%! [status, out] = run_octave ({
%!   "try, StencilConstantMemory_CUDA (1:4, []); catch, end"
%!   "assert (! warned ());"
%!   "StencilConstantMemory_CUDA (1:4, [1 2 3]);"
%!   "if (warned ()), disp ('warned now'); end"}, ...
%!   {"STENCIL_BACKEND=auto", "CUDA_VISIBLE_DEVICES=-1"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "warned now")), out);

%!test # a good call with the engine named says nothing at all
%! calls = {"y = StencilConstantMemory_CUDA (1:4, [1 2 3]);", ...
%!          "y = DerivativeConstantMemory_CUDA (1:4, 0.5);", ...
%!          "y = ConvolutionConstantMemory_CUDA (1:4, [1 2 3]);"};
%! for call = strrep (calls, ");", ", 'Backend', 'cpu');")
%!   out = evalc (call{1});
%!   assert (isempty (out), "it printed <%s>", out);
%! endfor
%! [status, out] = run_octave (calls, {"STENCIL_BACKEND=cpu"});
%! assert (status == 0, "status %d: %s", status, out);
%! ## Octave 7 itself may print this one line as it leaves.
%! out = regexprep (out, 'error: ignoring const execution_exception& while preparing to exit', "");
%! assert (isempty (strtrim (out)), out);

## --- STENCIL_BACKEND -------------------------------------------------------------

%!test # cuda where no device can be used is an error, each time, and no crash
%! [status, out] = run_octave ({
%!   "for i = 1:3"
%!   "  id = 'none';"
%!   "  try, StencilConstantMemory_CUDA (1:4, [1 2 3]); catch err, id = err.identifier; end"
%!   "  assert (id, 'StencilConstantMemory:noDevice');"
%!   "  try, DerivativeConstantMemory_CUDA (1:9); catch err, id = err.identifier; end"
%!   "  assert (id, 'DerivativeConstantMemory:noDevice');"
%!   "  try, ConvolutionConstantMemory_CUDA (1:9, 1); catch err, id = err.identifier; end"
%!   "  assert (id, 'ConvolutionConstantMemory:noDevice');"
%!   "end"
%!   "assert (StencilConstantMemory_CUDA (1:4, [1 2 3], 'Backend', 'cpu'), [8 14 20 11]);"
%!   "assert (DerivativeConstantMemory_CUDA ([1 1], 'Backend', 'cpu'), [0.8 -0.8]);"
%!   "assert (ConvolutionConstantMemory_CUDA (1:4, [1 2 3], 'Backend', 'cpu'), [8 14 20 11]);"
%!   "assert (! warned ());"
%!   "disp ('refused');"}, {"STENCIL_BACKEND=cuda", "CUDA_VISIBLE_DEVICES=-1"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "refused")), out);

%!test # what it cannot be is an option error
%! [status, out] = run_octave ({
%!   "id = 'none';"
%!   "try, StencilConstantMemory_CUDA (1:4, [1 2 3]); catch err, id = err.identifier; end"
%!   "assert (id, 'StencilConstantMemory:option');"
%!   "disp (err.message);"
%!   "try, StencilConstantMemory_CUDA (1:4, []); catch err, id = err.identifier; end"
%!   "assert (id, 'StencilConstantMemory:kernelLength');"
%!   "disp ('refused');"}, {"STENCIL_BACKEND=nonsense"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "refused")), out);
%! ## The error must name the source of the word.
%! assert (! isempty (strfind (out, "STENCIL_BACKEND")), out);

%!test # the option goes before the variable
%! [status, out] = run_octave ({
%!   "assert (StencilConstantMemory_CUDA (1:4, [1 2 3], 'Backend', 'cpu'), [8 14 20 11]);"
%!   "id = 'none';"
%!   "try, StencilConstantMemory_CUDA (1, 1, 'Backend', 'cuda'); catch err, id = err.identifier; end"
%!   "disp (['<' id '>']);"}, {"STENCIL_BACKEND=cpu", "CUDA_VISIBLE_DEVICES=-1"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "<StencilConstantMemory:noDevice>")), out);

## --- Leaving -----------------------------------------------------------------------

%!test # exit status 0 after use of any function, after errors, and by exit
%! for code = {"StencilConstantMemory_CUDA (ones (1, 1e6), ones (1, 11));", ...
%!             "ConstantMemoryDevice_CUDA ();", ...
%!             "DerivativeConstantMemory_CUDA (ones (1, 1e6));", ...
%!             "ConvolutionConstantMemory_CUDA (ones (1e3), ones (3));", ...
%!             "try, StencilConstantMemory_CUDA (1); catch, end", ...
%!             "y = StencilConstantMemory_CUDA (ones (1, 1e6), 1); exit (0);"}
%!   [status, out] = run_octave ([code{1} "; disp ('done');"]);
%!   assert (status == 0, "status %d: %s", status, [code{1} "\n" out]);
%! endfor
%! [status, out] = run_octave ("y = StencilConstantMemory_CUDA (1:9, 1); exit (7);");
%! assert (status == 7, "status %d: %s", status, out);
%! ## An uncaught error ends a script with 1, and the host with it.
%! [status, out] = run_octave ("StencilConstantMemory_CUDA (1:9, []);");
%! assert (status == 1, "status %d: %s", status, out);

## --- Where calls come from ------------------------------------------------------------

%!test # cellfun, arrayfun, feval, handles
%! got = cellfun (@(x) StencilConstantMemory_CUDA (x, [1 1 1]), {1:3, [4; 5], 4}, ...
%!                "UniformOutput", false);
%! assert (got, {[3 6 5], [9; 9], 4});
%! f = @StencilConstantMemory_CUDA;
%! assert (cellfun (f, {1, 2, 3}, {1, 2, 3}), [1 4 9]);
%! assert (arrayfun (@(i) sum (f (1:i, [1 1 1])), 1:4), [1 6 14 25]);
%! assert (feval ("StencilConstantMemory_CUDA", 1:3, [1 1 1]), [3 6 5]);
%! assert (f (f (f (1:3, [1 1 1]), [1 1 1]), [1 1 1]), [23 34 25]);

%!test # an error handler of cellfun is asked once for each failure
%! ids = cellfun (@(x) StencilConstantMemory_CUDA (x, 1), {1, int8(1), 2}, ...
%!                "ErrorHandler", @(err, varargin) -err.index);
%! assert (ids, [1 -2 2]);

%!test # evalc, eval, try, unwind_protect and a function in a function
%! text = evalc ("StencilConstantMemory_CUDA (1:3, [1 1 1])");
%! assert (! isempty (regexp (text, '3\s+6\s+5', "once")));
%! eval ("y = StencilConstantMemory_CUDA (int8 (1), 1);", "y = -1;");
%! assert (y, -1);
%! done = false;
%! try
%!   unwind_protect
%!     StencilConstantMemory_CUDA (1:3, 1:0);
%!   unwind_protect_cleanup
%!     done = StencilConstantMemory_CUDA (1, 1) == 1;
%!   end_unwind_protect
%! catch err
%!   assert (err.identifier, "StencilConstantMemory:kernelLength");
%!   try
%!     StencilConstantMemory_CUDA ();
%!   catch inner
%!     assert (inner.identifier, "StencilConstantMemory:numberOfInputs");
%!   end_try_catch
%! end_try_catch
%! assert (done);
%! nest = @(g, n) inner_call (g, n);
%! function y = inner_call (g, n)
%!   y = 1:3;
%!   if (n > 0)
%!     y = StencilConstantMemory_CUDA (g (g, n - 1), [0 1 0]);
%!   endif
%! endfunction
%! assert (nest (nest, 40), 1:3);

%!test # the function's name stands before the text once, and the stack tells of it
%! try
%!   StencilConstantMemory_CUDA (1);
%! catch err
%! end_try_catch
%! assert (numel (strfind (err.message, "StencilConstantMemory_CUDA")), 1);

## --- Help ------------------------------------------------------------------------------

%!test # help NAME shows the help file beside the MEX file, and it tells of every identifier
%! common = {"numberOfInputs", "numberOfOutputs", "dataType", "option", "noDevice", "busy", "outOfMemory", ...
%!           "cuda", "internal", "notBuilt", "STENCIL_BACKEND"};
%! sweeps = {"Boundary", "Iterations", "Progress", "replicate", "symmetric", "circular", "interrupted"};
%! names = {
%!   "StencilConstantMemory_CUDA",     [common, sweeps, {"Dim", "kernelLength", "kernelShape"}]
%!   "DerivativeConstantMemory_CUDA",  [common, {"spacing", "Coefficients", "Boundary", "Dim", "interrupted"}]
%!   "ConvolutionConstantMemory_CUDA", [common, sweeps, {"imageShape", "filterSize", "filterShape"}]
%!   "ConstantMemoryDevice_CUDA",      {"numberOfInputs", "numberOfOutputs", "busy", "notBuilt"}
%!   "ConstantMemoryStudy_CUDA",       {"numberOfInputs", "numberOfOutputs", "study", "option", "noDevice", "busy", "outOfMemory", "notBuilt"}
%!   };
%! [~, all] = cellfun (@fileparts, glob (fullfile (fileparts (which ("DeviceArray_CUDA")), "*_CUDA.m")), "UniformOutput", false);
%! assert (sort (names(:,1)), setdiff (all, "DeviceArray_CUDA"));
%! for i = 1:rows (names)
%!   [name, words] = names{i,:};
%!   text = help (name);
%!   assert (! isempty (regexpi (text, ['^\s*' name], "once")), "help %s: %s", name, text);
%!   assert (numel (text) > 300);
%!   assert (isempty (strfind (text, "not documented")));
%!   printed = evalc (["help " name]);
%!   assert (! isempty (strfind (printed, strtrim (text)(1:60))));
%!   for word = words
%!     assert (! isempty (regexp (text, ['\<' word{1} '\>'], "once")), "help %s does not tell of %s", name, word{1});
%!   endfor
%! endfor

%!test # it names every field of the device's struct
%! text = help ("ConstantMemoryDevice_CUDA");
%! for name = fieldnames (ConstantMemoryDevice_CUDA ()).'
%!   assert (! isempty (regexp (text, ['\<' name{1} '\>'], "once")), "%s is not in the help", name{1});
%! endfor

%!test # and what runs is the MEX file
%! for name = {"Stencil", "Derivative", "Convolution"}
%!   assert (exist ([name{1} "ConstantMemory_CUDA"]), 3);
%! endfor
%! assert (exist ("ConstantMemoryDevice_CUDA"), 3);
