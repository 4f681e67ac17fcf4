## The Octave package for a user: pkg install, load, help, demo, pkg test, uninstall. Each step is a session of its own,
## as it is for a user. STENCIL_PACKAGES names the folder with the package.

%!function result = clean (out)
%!  ## Octave's own messages about the machine do not matter.
%!  result = isempty (regexp (out, '^(error|warning): (?!ignoring const execution_exception)', "once", "lineanchors"));
%!endfunction
%!
%!function result = says (code, text)
%!  [status, out] = session ([{"pkg load stencil-mex;"}; cellstr(code)]);
%!  result = status == 0 && ! isempty (strfind (out, text));
%!  if (! result)
%!    printf ("%s", out);
%!  endif
%!endfunction

%!function archive = without_libraries ()
%!  ## Makes an archive of the package without the libraries that serve one version of Octave each.
%!  folder = tempname (installed ());
%!  mkdir (folder);
%!  name = glob (fullfile (getenv ("STENCIL_PACKAGES"), "stencil-mex-*.tar.gz")){1};
%!  archive = fullfile (folder, "stencil-mex.tar.gz");
%!  command = "cd '%s' && tar -xzf '%s' && rm */*/libstencil_*-*.so && tar -czf '%s' */";
%!  assert (system (sprintf (command, folder, name, archive)), 0);
%!endfunction

%!test  # a machine that cannot load the library is refused
%! tarball = glob (fullfile (getenv ("STENCIL_PACKAGES"), "stencil-mex-*.tar.gz")){1};
%! [~, out] = session ({"function name = computer (~)", "  name = 'darwin-aarch64';", "endfunction", ...
%!                      ["pkg install " tarball]});
%! assert (! isempty (strfind (out, "stencil-mex is built for Linux on x86-64")), "%s", out);
%! assert (isempty (glob (fullfile (installed (), "stencil-mex-*"))));

%!test  # it installs, and says nothing but where its news are
%! tarball = glob (fullfile (getenv ("STENCIL_PACKAGES"), "stencil-mex-*.tar.gz")){1};
%! [status, out] = session (["pkg install " tarball]);
%! assert (status == 0, "%s", out);
%! assert (clean (out), "%s", out);

%!testif ; exist (fullfile (__octave_config_info__ ("bindir"), "mkoctfile"), "file")  # needs this Octave's mkoctfile
%! ## Libraries for an Octave that the package does not know are compiled as it is installed.
%! [status, out] = session (["pkg install " without_libraries()]);
%! assert (status == 0 && clean (out), "%s", out);
%! assert (says ("printf ('an object: %d', isa (DeviceArray ([1 2]), 'handle'));", "an object: 0"));

%!test  # without a compiler it says what such an Octave lacks, and works
%! out_of_place = {"function value = __octave_config_info__ (varargin)", "  value = '/none';", ...
%!                 "  if (! isequal (varargin, {'bindir'}))", ...
%!                 "    value = builtin ('__octave_config_info__', varargin{:});", "  endif", "endfunction"};
%! [status, out] = session ([out_of_place, {["pkg install " without_libraries()]}]);
%! assert (status == 0 && clean (out) && ! isempty (strfind (out, "octave-dev")), "%s", out);
%! assert (says ("printf ('an object: %d', isa (DeviceArray ([1 2]), 'handle'));", "an object: 1"));
%! [status, out] = session (["pkg install " glob(fullfile (getenv ("STENCIL_PACKAGES"), "stencil-mex-*.tar.gz")){1}]);
%! assert (status == 0, "%s", out);

%!test  # it is listed, with the version of its file's name
%! [~, name] = fileparts (glob (fullfile (getenv ("STENCIL_PACKAGES"), "stencil-mex-*.tar.gz")){1});
%! [~, out] = session ("p = pkg ('list', 'stencil-mex'); printf ('%s-%s.tar', p{1}.name, p{1}.version);");
%! assert (! isempty (strfind (out, name)), "%s", out);

%!test  # INDEX lists every function
%! files = [glob(fullfile (installed (), "stencil-mex-*", "*.m")); ...
%!          glob(fullfile (installed (), "stencil-mex-*", "@*", "DeviceArray.m"))];
%! [~, names] = cellfun (@fileparts, files, "UniformOutput", false);
%! assert (sort (index_names ()(:)), sort (names(:)));

%!test  # the licenses of the crates go with it
%! text = fileread (glob (fullfile (installed (), "stencil-mex-*", "packinfo", "COPYING")){1});
%! for part = {"MIT License", "Apache License", "cudarc", "rayon", "libloading"}
%!   assert (! isempty (strfind (text, part{1})), "%s", part{1});
%! endfor

%!test  # it says how to cite it, and what is new
%! [status, out] = session ("citation stencil-mex; news stencil-mex");
%! assert (status == 0, "%s", out);
%! for part = {"@software{stencil-mex", "`DeviceArray`"}
%!   assert (! isempty (strfind (out, part{1})), "%s", out);
%! endfor

%!test  # what it has for Octave alone comes with it, and goes with it
%! code = {"before = path ();", "pkg load stencil-mex;", "[x, y] = gather (DeviceArray (1:2), 3);", ...
%!         "printf ('<%d>', x, y, gather (4)); pkg unload stencil-mex;", ...
%!         "printf ('%d', strcmp (path (), before), exist ('DeviceArray'));"};
%! [status, out] = session (code);
%! assert (status == 0 && ! isempty (strfind (out, "<1><2><3><4>10")), "%s", out);

%!test  # every function computes
%! calls = {
%!   "StencilConstantMemory_CUDA",     "isequal (StencilConstantMemory_CUDA (ones (1, 5), [1 1 1]), [2 3 3 3 2])"
%!   "DerivativeConstantMemory_CUDA",  "norm (DerivativeConstantMemory_CUDA (1:9)(5) - 1) < 1e-15"
%!   "ConvolutionConstantMemory_CUDA", "isequal (ConvolutionConstantMemory_CUDA (eye (3), ones (3))(2,:), [2 3 2])"
%!   "DeviceArray",                    "isequal (gather (DeviceArray ([1 4]) + 1), [2 5])"
%!   "DeviceArray_CUDA",               "isequal (DeviceArray_CUDA ('count'), 0)"
%!   "ConstantMemoryDevice_CUDA",      "any (strcmp (ConstantMemoryDevice_CUDA ().Backend, {'cpu', 'cuda'}))"
%!   "ConstantMemoryStudy_CUDA",       "strcmp (fails ('none'), 'ConstantMemoryStudy:study')"
%!   };
%! assert (sort (calls(:,1)), sort (index_names ("^DeviceArray$|_CUDA$")(:)));
%! fails = {"function id = fails (study)", "  id = '';", ...
%!          "  try, ConstantMemoryStudy_CUDA (study); catch failure, id = failure.identifier; end", "end"};
%! for i = 1:rows (calls)
%!   assert (says ([fails(:); ["printf ('%d results', " calls{i,2} ");"]], "1 results"), "%s", calls{i,1});
%! endfor

%!test  # one library serves all names: an array that one makes, another takes
%! assert (says (["u = StencilConstantMemory_CUDA (DeviceArray (1:3), [0 1 0]);" ...
%!                "printf ('%s %d', class (u), isequal (gather (u), 1:3));"], "DeviceArray 1"));

%!test  # large outputs are lent where the package has what lends them for this Octave
%! lender = fullfile (installed (), "stencil-mex-*", ["libstencil_lend-" OCTAVE_VERSION ".so"]);
%! if (compare_versions (OCTAVE_VERSION, "10", ">="))
%!   expected = "direct";
%! elseif (isempty (glob (lender)))
%!   expected = "copied";
%! else
%!   expected = "lent";
%! endif
%! assert (says ("printf ('large outputs: %s', ConstantMemoryDevice_CUDA ().Outputs);", ["large outputs: " expected]));

%!testif ; has_mpi ()  # needs Open MPI
%! ## The shim for MPI is compiled as the package is installed, and without it the error says how.
%! shim = glob (fullfile (installed (), "stencil-mex-*", "libstencil_mpi.so"));
%! assert (numel (shim), 1);
%! code = {"pkg load stencil-mex;", "d = ConstantMemoryDevice_CUDA ();", ...
%!         "y = StencilConstantMemory_CUDA (d.Rank + 1, [1 1 1], 'Distributed', 1);", ...
%!         "fdisp (stdout, sprintf ('<%d of %d: %d>', d.Rank, d.Ranks, y));"};
%! start = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 mpirun --oversubscribe -np 2 ";
%! [status, out] = session (code, start);
%! assert (status == 0, "%s", out);
%! assert (! isempty (strfind (out, "<0 of 2: 3>")) && ! isempty (strfind (out, "<1 of 2: 3>")), "%s", out);
%! unlink (shim{1});
%! [status, out] = session ([{"pkg load stencil-mex;"}, "StencilConstantMemory_CUDA (1, 1, 'Distributed', 1);"]);
%! command = regexp (out, 'run: (mpicc .*)', "tokens", "once", "dotexceptnewline"){1};
%! [status, said] = system (command);
%! assert (status == 0 && exist (shim{1}, "file") != 0, "%s", said);

%!test  # every function has a help text that begins with its name
%! code = {"pkg load stencil-mex;"};
%! for name = index_names ()
%!   code{end+1} = sprintf ("text = help ('%s'); printf ('\\n@ %s %%d\\n: %%s', numel (text), text);", name{[1 1]});
%! endfor
%! [status, out] = session (code);
%! assert (status == 0, "%s", out);
%! for name = index_names ()
%!   length = regexp (out, ['^@ ' name{1} ' (\d+)$'], "tokens", "once", "lineanchors");
%!   assert (str2double (length{1}) > 200, "%s", name{1});
%!   assert (! isempty (regexp (out, ['^: *' name{1} '\>'], "once", "lineanchors")), "%s", name{1});
%! endfor

%!test  # every demo of INDEX runs
%! for name = index_names ("_Demo$")
%!   [~, out] = session ({"pkg load stencil-mex;", [name{1} " ('pictures');"], "disp ('it ran');"});
%!   assert (! isempty (strfind (out, "it ran")), "%s", [name{1} "\n" out]);
%! endfor

%!test  # demo NAME works for every function that draws
%! names = index_names ("^DeviceArray$|(Stencil|Derivative|Convolution)ConstantMemory_CUDA$");
%! missing = without_blocks ("demo", names);
%! assert (isempty (missing), "no %%!demo block: %s", strjoin (missing));
%! for name = names
%!   if (strcmp (name, "DeviceArray"))
%!     name = {"@DeviceArray/DeviceArray"};
%!   endif
%!   [status, out] = session ({"pkg load stencil-mex;", ["demo " name{1}]});
%!   assert (status == 0, "%s", out);
%!   assert (! isempty (strfind (out, [name{1} " example 1:"])), "%s", out);
%!   assert (isempty (regexp (out, ' example \d+: failed', "once")), "%s", out);
%! endfor

%!test  # pkg test works, and every function has a test
%! names = index_names ("^DeviceArray$|_CUDA$");
%! missing = without_blocks ("(test|assert|error)", names);
%! assert (isempty (missing), "no %%!test block: %s", strjoin (missing));
%! [status, out] = session ({"pkg load stencil-mex;", "pkg test stencil-mex"});
%! assert (status == 0, "%s", out);
%! count = @(what) str2double (regexp (out, ['^ *' what ' +(\d+)'], "tokens", "once", "lineanchors"){1});
%! assert (count ("PASS") >= numel (names), "%s", out);
%! assert (count ("FAIL") == 0, "%s", out);

%!test  # it is uninstalled without a trace
%! [status, out] = session ("pkg uninstall stencil-mex");
%! assert (status == 0, "%s", out);
%! assert (clean (out), "%s", out);
%! assert (isempty (glob (fullfile (installed (), "stencil-mex-*"))));
%! [~, out] = session ("printf ('found: %d', exist ('StencilConstantMemory_CUDA'));");
%! assert (! isempty (strfind (out, "found: 0")), "%s", out);
%! confirm_recursive_rmdir (false, "local");
%! rmdir (installed (), "s");
