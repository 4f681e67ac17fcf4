## Large outputs: Octave 7 to 9 copy outputs of a MEX function, unless the
## library made them as Octave's values ("lent").

%!function folder = copied_functions ()
%!  ## The built functions in a separate folder, without the library that lends.
%!  folder = tempname ();
%!  mkdir (folder);
%!  from = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
%!  status = system (sprintf ("cp '%s'/*.mex '%s'/libstencil_mex.so '%s'", from, from, folder));
%!  assert (status, 0);
%!endfunction

%!function remove (folder)
%!  confirm_recursive_rmdir (false, "local");
%!  rmdir (folder, "s");
%!endfunction

%!function [status, out] = run_in (folder, code, settings = {})
%!  [status, out] = run_octave ([{sprintf("addpath ('%s');", folder)}; code(:)], settings);
%!endfunction

%!function code = computes ()
%!  ## Large calls of every function, an error between them, and the output of
%!  ## each.
%!  code = {
%!    "lasterr ('mine');"
%!    "y = StencilConstantMemory_CUDA (ones (1, 3e5), [1 2 3], 'Backend', 'cpu');"
%!    "assert (y, [5, 6 * ones(1, 299998), 3]);"
%!    "y = DerivativeConstantMemory_CUDA (ones (1e5, 3, 'single'), 'Backend', 'cpu');"
%!    "assert (class (y), 'single'); assert (size (y), [1e5, 3]); assert (all (y(5:end-4,:)(:) == 0));"
%!    "y = ConvolutionConstantMemory_CUDA (ones (50, 60, 70), ones (3, 3, 3), 'Backend', 'cpu');"
%!    "assert (y(2:end-1,2:end-1,2:end-1), 27 * ones (48, 58, 68));"
%!    "assert (lasterr (), 'mine');"
%!    "printf ('<%s>\\n', ConstantMemoryDevice_CUDA ().Outputs);"};
%!endfunction

%!function quiet (out, word)
%!  ## Octave 7 itself may print this one line as it leaves.
%!  out = regexprep (out, 'error: ignoring const execution_exception& while preparing to exit', "");
%!  assert (strcmp (strtrim (out), ["<" word ">"]), "not <%s> alone: %s", word, out);
%!endfunction

## --- Which way ---------------------------------------------------------------------

%!test # the device's struct tells it
%! [status, out] = run_octave (computes ());
%! assert (status == 0, "status %d: %s", status, out);
%! if (! isempty (helper ("lend")))
%!   quiet (out, "lent");
%! elseif (compare_versions (OCTAVE_VERSION, "10", "<"))
%!   quiet (out, "copied");
%! elseif (compare_versions (OCTAVE_VERSION, "11", ">="))
%!   quiet (out, "direct");
%! endif

%!testif ; ! isempty (helper ("lend"))  # needs what lends to this version of Octave
%! ## All functions, all classes; not small outputs, and never empty ones.
%! large = {"StencilConstantMemory_CUDA (ones (1, 8192), 1)", ...
%!          "StencilConstantMemory_CUDA (ones (4, 5, 6, 700), 1)", ...
%!          "DerivativeConstantMemory_CUDA (ones (8192, 1))", ...
%!          "DerivativeConstantMemory_CUDA (ones (16384, 1, 'single'))", ...
%!          "ConvolutionConstantMemory_CUDA (ones (100), ones (3))", ...
%!          "ConvolutionConstantMemory_CUDA (ones (200, 'single'), ones (3))"};
%! small = {"StencilConstantMemory_CUDA (ones (1, 8191), 1)", ...
%!          "DerivativeConstantMemory_CUDA (ones (16383, 1, 'single'))", ...
%!          "ConvolutionConstantMemory_CUDA (ones (90), ones (3))", ...
%!          "StencilConstantMemory_CUDA (7, 1)", ...
%!          "StencilConstantMemory_CUDA (zeros (0, 1e6), 1)"};
%! [status, out] = run_octave (strcat ({"y = "}, [large, small], {";"}), {"STENCIL_BACKEND=cpu", "STENCIL_TRACE=1"});
%! assert (status == 0, "status %d: %s", status, out);
%! ways = [regexp(out, ' us, (lent|made) ', "tokens"){:}];
%! assert (ways, [repmat({"lent"}, size (large)), repmat({"made"}, size (small))]);

%!testif ; ! isempty (helper ("lend"))  # needs what lends to this version of Octave
%! ## Wherever the call comes from, through links, and after the folder has left the path.
%! folder = tempname ();
%! mkdir (folder);
%! unwind_protect
%!   file = file_in_loadpath ("StencilConstantMemory_CUDA.mex");
%!   symlink (file, fullfile (folder, "StencilConstantMemory_CUDA.mex"));
%!   [status, out] = run_octave ({
%!     sprintf("cd ('%s');", folder)
%!     "f = @StencilConstantMemory_CUDA; x = ones (1, 1e5);"
%!     "assert (fileparts (which ('StencilConstantMemory_CUDA')), pwd ());"
%!     "f (x, 1); cd ('/');"
%!     "cellfun (@(x) f (x, 1), {x, x}, 'UniformOutput', false);"}, {"STENCIL_BACKEND=cpu", "STENCIL_TRACE=1"});
%! unwind_protect_cleanup
%!   remove (folder);
%! end_unwind_protect
%! assert (status == 0, "status %d: %s", status, out);
%! assert (numel (strfind (out, " us, lent ")) == 3, "it printed: %s", out);

## --- What it is worth, once it is there ---------------------------------------------------

%!test # the bits, the class and the size are those of small calls
%! k = [1 -2 3 -4 5];
%! x = noise (1, 700, 6, 5);
%! y = StencilConstantMemory_CUDA (x, k, "Backend", "cpu");
%! assert (size (y), size (x));
%! d = DerivativeConstantMemory_CUDA (single (x), "Backend", "cpu");
%! assert (class (d), "single");
%! for i = 1:30
%!   assert (same_bits (y(:,i), StencilConstantMemory_CUDA (x(:,i), k, "Backend", "cpu")));
%!   assert (same_bits (d(:,i), DerivativeConstantMemory_CUDA (single (x(:,i)), "Backend", "cpu")));
%! endfor

%!test # it is a value like any other: what is changed is changed nowhere else
%! x = noise (2, 1, 3e5);
%! was = 1 * x;               # a copy of the numbers: an index may share them
%! f = @(x) StencilConstantMemory_CUDA (x, [1 2 3], "Backend", "cpu");
%! a = f (x);
%! a0 = 1 * a;
%! b = a;
%! c = {a, a};
%! b(1) = 7;
%! c{2}(end) = 8;
%! assert (same_bits (a, a0));
%! assert (same_bits (c{1}, a0));
%! d = f (x);
%! a(:) = 0;
%! assert (same_bits (d, a0));
%! e = f (zeros (1, 3e5));
%! e(3) = 1;
%! assert (same_bits (d, a0));
%! assert (same_bits (x, was));
%! ## In place, by an operator, and as the argument of the next call.
%! d += 1;
%! assert (d, a0 + 1);
%! g = f (f (x));
%! assert (same_bits (g, f (a0)));

%!test # results outlive what made them, and are given back after it
%! [status, out] = run_octave ({
%!   "a = StencilConstantMemory_CUDA (ones (1, 3e5), [1 2 3]); b = {a};"
%!   "clear -f; clear StencilConstantMemory_CUDA"
%!   "b{1}(2) = 1; assert (sum (a), 3e5 * 6 - 4);"
%!   "clear a"
%!   "a = StencilConstantMemory_CUDA (ones (1, 3e5), [1 2 3]); clear all"
%!   "printf ('<%s>\\n', ConstantMemoryDevice_CUDA ().Outputs);"});
%! assert (status == 0, "status %d: %s", status, out);
%! quiet (out, ConstantMemoryDevice_CUDA ().Outputs);

%!testif ; ! isnan (resident ())  # needs /proc
%! ## Nothing stays behind: of results, of errors before them, of values changed.
%! [status, out] = run_octave ({
%!   "function work ()"
%!   "  x = ones (1, 2e4);"  # single ones of these are just lent
%!   "  for i = 1:200"
%!   "    a = StencilConstantMemory_CUDA (x, [1 2 3], 'Backend', 'cpu');"
%!   "    b = a; b(1) = i;"
%!   "    c = DerivativeConstantMemory_CUDA (single (a), 'Backend', 'cpu');"
%!   "    try, StencilConstantMemory_CUDA (x, [1 2], 'Backend', 'cpu'); catch, end"
%!   "    StencilConstantMemory_CUDA (x, 1, 'Backend', 'cpu');"
%!   "  end"
%!   "end"
%!   "growth = grows (@() work (), @() resident ());"
%!   "assert (growth <= 512, 'grew by %d KiB in 3,600 calls', growth);"
%!   "disp ('flat');"}, {"MALLOC_MMAP_THRESHOLD_=65536", "MALLOC_TRIM_THRESHOLD_=65536"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "flat")), out);

## --- Without it -----------------------------------------------------------------------

%!testif ; compare_versions (OCTAVE_VERSION, "10", "<")  # needs an Octave that copies
%! ## None, or one of another version: copied, and nothing is said.
%! folder = copied_functions ();
%! unwind_protect
%!   [status, out] = run_in (folder, computes ());
%!   assert (status == 0, "status %d: %s", status, out);
%!   quiet (out, "copied");
%!   if (! isempty (helper ("lend")))
%!     copyfile (helper ("lend"), fullfile (folder, "libstencil_lend-7.0.90.so"));
%!     [status, out] = run_in (folder, computes ());
%!     assert (status == 0, "status %d: %s", status, out);
%!     quiet (out, "copied");
%!     ## The folder itself is good.
%!     copyfile (helper ("lend"), folder);
%!     [status, out] = run_in (folder, computes ());
%!     assert (status == 0, "status %d: %s", status, out);
%!     quiet (out, "lent");
%!   endif
%! unwind_protect_cleanup
%!   remove (folder);
%! end_unwind_protect

%!testif ; compare_versions (OCTAVE_VERSION, "10", "<")  # needs an Octave that copies
%! ## A file of the right name that is no library, that is another library, or
%! ## that needs symbols missing in this Octave.
%! folder = copied_functions ();
%! name = fullfile (folder, ["libstencil_lend-" OCTAVE_VERSION ".so"]);
%! ways = {
%!   sprintf("echo no library >'%s'", name)
%!   sprintf(": >'%s'", name)
%!   sprintf("mkdir '%s'", name)
%!   sprintf("cp '%s/libstencil_mex.so' '%s'", folder, name)};
%! if (! isempty (helper ("lend")))
%!   ways{end+1} = sprintf ("sed s/_ZN7mxArray/_ZN7mxXrray/g '%s' >'%s'", helper ("lend"), name);
%! endif
%! unwind_protect
%!   for i = 1:numel (ways)
%!     assert (system (sprintf ("rm -rf '%s' && %s", name, ways{i})), 0);
%!     [status, out] = run_in (folder, computes ());
%!     assert (status == 0, "status %d: %s", status, [ways{i} "\n" out]);
%!     quiet (out, "copied");
%!   endfor
%! unwind_protect_cleanup
%!   remove (folder);
%! end_unwind_protect

%!testif ; ! isempty (helper ("lend"))  # needs what lends to this version of Octave
%! ## The user's own functions under the names that are used: their results are checked.
%! names = {"uplus", "uplus", "uplus", "OCTAVE_VERSION", "OCTAVE_VERSION", "OCTAVE_VERSION"};
%! bodies = {"y = -x;", "y = 'x';", "y = [];", "y = '../7.3.0';", "y = 7;", "y = '';"};
%! folder = tempname ();
%! mkdir (folder);
%! unwind_protect
%!   for i = 1:numel (names)
%!     file = fullfile (folder, [names{i} ".m"]);
%!     fid = fopen (file, "w");
%!     fprintf (fid, "function y = %s (x)\n  global asked\n  asked += 1;\n  %s\nend\n", names{i}, bodies{i});
%!     fclose (fid);
%!     [status, out] = run_in (folder, [{"clear functions; global asked; asked = 0; warning ('off', 'all');"}; ...
%!                                      computes(); {"printf ('asked %d', asked);"}]);
%!     delete (file);
%!     assert (status == 0, "status %d: %s", status, out);
%!     assert (! isempty (strfind (out, "<copied>")), [names{i} ": " bodies{i} "\n" out]);
%!     ## Once, not with every call.
%!     assert (! isempty (strfind (out, "asked 1")), out);
%!   endfor
%! unwind_protect_cleanup
%!   remove (folder);
%! end_unwind_protect

## --- How it is built --------------------------------------------------------------------------

%!function [status, out] = build (root, mkoctfile)
%!  library = fullfile (fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex")), "libstencil_mex.so");
%!  [status, out] = system (sprintf ("env MKOCTFILE='%s' '%s/matlab/build-mex' --from '%s' mex 2>&1", ...
%!                                   mkoctfile, root, library));
%!endfunction

%!testif ; has_sources () && compare_versions (OCTAVE_VERSION, "10", "<")  # needs the sources and this Octave's mkoctfile
%! root = tempname ();
%! mkdir (root);
%! mkdir (fullfile (root, "matlab"));
%! mkdir (fullfile (root, "src"));
%! mkdir (fullfile (root, "src", "mex"));
%! here = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
%! source = fullfile (root, "src", "mex", "lend.cc");
%! name = fullfile (root, "matlab", ["libstencil_lend-" OCTAVE_VERSION ".so"]);
%! good = getenv ("MKOCTFILE");
%! if (isempty (good))
%!   good = "mkoctfile";
%! endif
%! unwind_protect
%!   copyfile (fullfile (here, "build-mex"), fullfile (root, "matlab"));
%!   copyfile (fullfile (here, "..", "src", "mex", "*.c*"), fullfile (root, "src", "mex"));
%!   copyfile (fullfile (here, "..", "src", "mex", "*.hpp"), fullfile (root, "src", "mex"));
%!   ## The other one, which takes long to compile, is there already.
%!   if (! isempty (helper ("object")))
%!     copyfile (helper ("object"), fullfile (root, "matlab"));
%!   endif
%!   ## Without mkoctfile, one line and no failure.
%!   [status, out] = build (root, "/no/mkoctfile");
%!   assert (status == 0, "status %d: %s", status, out);
%!   told = '^build-mex: large outputs will be copied [^\n]*mkoctfile[^\n]*\n$';
%!   assert (! isempty (regexp (out, told, "once")), out);
%!   assert (! exist (name, "file"));
%!   ## With it, a library that lends, and not a word.
%!   [status, out] = build (root, good);
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (isempty (out), out);
%!   [status, out] = run_in (fullfile (root, "matlab"), computes ());
%!   assert (status == 0, "status %d: %s", status, out);
%!   quiet (out, "lent");
%!   ## Again only where the source is newer.
%!   built = stat (name);
%!   [status, out] = build (root, good);
%!   assert (stat (name).ino, built.ino);
%!   assert (system (sprintf ("echo >'%s'; touch -d '+1 minute' '%s'", source, source)), 0);
%!   [status, out] = build (root, good);
%!   assert (stat (name).ino != built.ino);
%!   ## A source that does not compile leaves nothing that belongs to another one.
%!   assert (system (sprintf ("echo '#error no such thing' >'%s'; touch -d '+2 minutes' '%s'", source, source)), 0);
%!   [status, out] = build (root, good);
%!   assert (status == 0, "status %d: %s", status, out);
%!   told = '^build-mex: large outputs will be copied [^\n]*no such thing[^\n]*\n$';
%!   assert (! isempty (regexp (out, told, "once")), out);
%!   assert (! exist (name, "file"));
%!   assert (numel (dir (fullfile (root, "matlab", "*lend*"))), 0);
%! unwind_protect_cleanup
%!   remove (root);
%! end_unwind_protect
