## The MATLAB toolbox, as far as that goes without MATLAB: its files in Octave, its list of options against the library.
## STENCIL_PACKAGES names the folder with the toolbox, unpacked.

%!function text = error_text (varargin)
%!  ## Returns the library's message for a wrong call.
%!  text = "";
%!  try
%!    feval (varargin{:});
%!  catch failure
%!    text = failure.message;
%!  end_try_catch
%!endfunction
%!
%!function found = words_after (text, before)
%!  found = regexp (regexprep (text, [".*" before], ""), '\w+', "match");
%!endfunction

%!function names = function_names ()
%!  files = [glob(fullfile (toolbox (), "toolbox", "*.m")); file_of("DeviceArray.DeviceArray")];
%!  [~, names] = cellfun (@fileparts, files, "UniformOutput", false);
%!endfunction
%!
%!function file = file_of (name)
%!  ## A class has a folder.
%!  file = fullfile (toolbox (), "toolbox", [regexprep(name, '^(\w+)\.', '@$1/') ".m"]);
%!endfunction

%!test  # MATLAB gets nothing that is for Octave alone
%! assert (exist (fullfile (toolbox (), "toolbox", "@DeviceArray", "sum.m"), "file"), 2);
%! assert (exist (fullfile (toolbox (), "toolbox", "PKG_ADD"), "file"), 0);
%! assert (exist (fullfile (toolbox (), "toolbox", "@DeviceArray", "octave")), 0);

%!test  # every file is code
%! files = [glob(fullfile (toolbox (), "*.m")); glob(fullfile (toolbox (), "*", "*.m")); ...
%!          glob(fullfile (toolbox (), "*", "private", "*.m")); glob(fullfile (toolbox (), "*", "@*", "*.m")); ...
%!          glob(fullfile (toolbox (), "*", "@*", "private", "*.m"))];
%! assert (numel (files) > 20);
%! ## A class is parsed where it is used, as below: only then does Octave know of its folder.
%! for file = files(cellfun (@isempty, strfind (files, "@DeviceArray/DeviceArray.m")))'
%!   __parse_file__ (file{1});
%! endfor

%!test  # the MEX files are no copies, but all find the one library
%! files = glob (fullfile (toolbox (), "toolbox", "*.mex"));
%! assert (numel (files) >= 6);
%! sizes = cellfun (@(file) stat (file).size, files);
%! assert (all (sizes < 20000), "%s", mat2str (sizes));

%!test  # Contents.m lists every function
%! text = fileread (fullfile (toolbox (), "toolbox", "Contents.m"));
%! listed = regexp (text, '^%   (\w+) +- \S', "tokens", "lineanchors");
%! assert (sort ([listed{:}](:)), setdiff (function_names (), {"Contents", "GettingStarted"})(:));

%!test  # Contents.m tells the library's version
%! unwind_protect
%!   addpath (fullfile (toolbox (), "toolbox"));
%!   version = ConstantMemoryDevice_CUDA ().Version;
%!   text = fileread (fullfile (toolbox (), "toolbox", "Contents.m"));
%!   assert (! isempty (regexp (text, ['^% Version ' regexptranslate("escape", version) ' '], "once", "lineanchors")));
%! unwind_protect_cleanup
%!   rmpath (fullfile (toolbox (), "toolbox"));
%! end_unwind_protect

%!test  # the script for beginners runs
%! unwind_protect
%!   addpath (fullfile (toolbox (), "toolbox"));
%!   out = evalc ("run (fullfile (toolbox (), 'toolbox', 'GettingStarted.m'))");
%!   errors = str2double (regexp (out, 'before: ([\d.]+), after: ([\d.]+)', "tokens", "once"));
%!   assert (errors(2) < errors(1) / 2);
%! unwind_protect_cleanup
%!   rmpath (fullfile (toolbox (), "toolbox"));
%! end_unwind_protect

%!test  # the toolbox's own tests pass, but for those that need a GPU
%! folders = {fullfile(toolbox (), "toolbox"), fullfile(toolbox (), "tests"), ...
%!            fullfile(fileparts (which ("signatures")), "matlab")};
%! unwind_protect
%!   addpath (folders{:});
%!   ran = 0;
%!   for file = glob (fullfile (toolbox (), "tests", "*.m"))'
%!     [~, name] = fileparts (file{1});
%!     for test = feval (name)(:)'
%!       try
%!         test{1} (test_case ());
%!         ran++;
%!       catch failure
%!         where = [name ", " func2str(test{1})];
%!         assert (strcmp (failure.identifier, "test_case:skipped"), "%s: %s", where, failure.message);
%!       end_try_catch
%!     endfor
%!   endfor
%!   assert (ran >= 10, "%s", num2str (ran));
%! unwind_protect_cleanup
%!   rmpath (folders{:});
%! end_unwind_protect

%!test  # functionSignatures.json has every function
%! expected = setdiff (function_names (), {"Contents", "GettingStarted", "DeviceArray_CUDA"});
%! expected = strrep (expected, "DeviceArray", "DeviceArray.DeviceArray");
%! assert (sort (signatures ()(:)), sort (expected(:)));

%!test  # its inputs have the names that the help files have
%! [names, inputs] = signatures ();
%! for i = 1:numel (names)
%!   text = fileread (file_of (names{i}));
%!   expected = strsplit (regexp (text, '^ *function [^(\n]*\(([^)]*)\)', "tokens", "once", "lineanchors"){1}, ", ");
%!   expected = setdiff (expected, {"varargin", ""}, "stable");
%!   positional = cellfun (@(a) ! strcmp (a.kind, "namevalue"), inputs{i});
%!   given = cellfun (@(a) a.name, inputs{i}(positional), "UniformOutput", false);
%!   assert (isequal (given(1:numel (expected))(:), expected(:)), "%s", names{i});
%! endfor

%!test  # its options, and their choices, are those of the library
%! [names, inputs] = signatures ();
%! studies = {"access", "readonly", "angles", "convolution"};
%! calls = {
%!   "StencilConstantMemory_CUDA",     {{1, 1}}
%!   "DerivativeConstantMemory_CUDA",  {{1, 1}}
%!   "ConvolutionConstantMemory_CUDA", {{1, 1}}
%!   "DeviceArray.DeviceArray",        {{1}}
%!   "ConstantMemoryStudy_CUDA",       num2cell(studies)
%!   };
%! unwind_protect
%!   addpath (fullfile (toolbox (), "toolbox"));
%!   with_options = cellfun (@(a) any (cellfun (@(b) strcmp (b.kind, "namevalue"), a)), inputs);
%!   assert (sort (names(with_options)(:)), sort (calls(:,1)));
%!   for call = calls'
%!     listed = inputs{strcmp (names, call{1})};
%!     listed = listed(cellfun (@(a) strcmp (a.kind, "namevalue"), listed));
%!     listed_names = cellfun (@(a) a.name, listed, "UniformOutput", false);
%!     found = {};
%!     for first = call{2}
%!       name = strtok (call{1}, ".");
%!       text = error_text (name, first{1}{:}, "NoSuchOption", 1);
%!       options = words_after (text, "the options are ");
%!       assert (! isempty (options), "%s", text);
%!       for option = options
%!         text = error_text (name, first{1}{:}, option{1}, "no such value");
%!         choices = regexp (regexprep (text, '.*expected ', ""), '["''](\w+)["'']', "tokens");
%!         at = strcmp (listed_names, option{1});
%!         assert (sum (at) == 1, "%s: %s", call{1}, option{1});
%!         assert (isempty (setxor (listed{at}.choices, [{}, choices{:}])), "%s: %s", call{1}, option{1});
%!       endfor
%!       found = union (found, options);
%!     endfor
%!     assert (isequal (sort (listed_names(:)), found(:)), "%s", call{1});
%!   endfor
%!   assert (words_after (error_text ("ConstantMemoryStudy_CUDA", "none"), "expected one of "), studies);
%!   of_study = inputs{strcmp (names, "ConstantMemoryStudy_CUDA")}{1};
%!   assert (of_study.choices, studies);
%! unwind_protect_cleanup
%!   rmpath (fullfile (toolbox (), "toolbox"));
%! end_unwind_protect
%! confirm_recursive_rmdir (false, "local");
%! rmdir (toolbox (), "s");
