## The help texts: their width, their examples, and the overview, as a user meets them.

%!shared folder, files, methods
%! folder = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
%! files = [glob(fullfile (folder, "*.m")); fullfile(folder, "@DeviceArray", "DeviceArray.m")];
%! methods = setdiff (glob (fullfile (folder, "@DeviceArray", "*.m")), files);

%!function lines = help_lines (file)
%!  ## The first block of comments, each line without its percent sign.
%!  lines = strsplit (fileread (file), "\n");
%!  comment = strncmp (lines, "%", 1);
%!  first = find (comment, 1);
%!  last = find (! comment(first:end), 1) + first - 2;
%!  lines = cellfun (@(line) line(2:end), lines(first:last), "UniformOutput", false);
%!endfunction
%!
%!function section = examples_section (file)
%!  ## The lines below "Examples", up to the next heading.
%!  lines = help_lines (file);
%!  section = {};
%!  first = find (strcmp (lines, "   Examples"), 1);
%!  if (! isempty (first))
%!    heading = ! cellfun (@isempty, regexp (lines, '^   \S', "once"));
%!    last = first + find ([heading(first+1:end), true], 1) - 1;
%!    section = lines(first+1:last);
%!  endif
%!endfunction
%!
%!function examples = examples_of (file)
%!  ## Each begins with a comment that says what it shows, and extends over the following lines, also indented ones.
%!  section = examples_section (file);
%!  starts = find (strncmp (section, "     %", 6));
%!  ends = [starts(2:end) - 1, numel(section)];
%!  examples = arrayfun (@(a, b) section(a:b), starts, ends, "UniformOutput", false);
%!endfunction
%!
%!function [status, out, id] = paste (lines, place, settings = {})
%!  ## Runs an example in a fresh session with nothing but the functions on the path, in the folder PLACE.
%!  here = fileparts (file_in_loadpath ("run_octave.m"));
%!  code = [{sprintf("rmpath ('%s');", here), sprintf("cd ('%s');", place), "try"}, lines, ...
%!          {"catch failure", "  printf ('\\n@%s\\n', failure.identifier);", "  rethrow (failure);", "end"}];
%!  [status, out] = run_octave (code, settings);
%!  id = [regexp(out, '^@(\S+)$', "tokens", "once", "lineanchors"){:}];
%!endfunction

%!test # no line is wider than 80 columns
%! inner = cellfun (@(path) glob (fullfile (folder, path{:}, "*.m")), ...
%!                  {{"private"}, {"@DeviceArray", "private"}, {"@DeviceArray", "octave", "*"}, {"@DeviceArray", "octave", "*", "@*"}}, ...
%!                  "UniformOutput", false);
%! for file = [files; methods; vertcat(inner{:})]'
%!   wide = cellfun (@numel, help_lines (file{1})) + 1 > 80;
%!   assert (! any (wide), "%s: line %d of its help", file{1}, find (wide, 1));
%! endfor

%!test # every example runs when it is pasted into a fresh session, or ends with the error that stands beside it
%! ## The sizes are those for a GPU: on its stand-in, which is a thousand times slower, runs without one.
%! settings = {{}, {"STENCIL_BACKEND=cpu", "CUDA_VISIBLE_DEVICES="}}{1 + on_stand_in ()};
%! place = tempname ();
%! mkdir (place);
%! unwind_protect
%!   with_examples = 0;
%!   for file = [files; methods]'
%!     if (! isempty (strfind (file{1}, "compile_mex")))
%!       continue  # in a test of its own
%!     endif
%!     examples = examples_of (file{1});
%!     with_examples += ! isempty (examples);
%!     promised = regexp (strjoin (examples_section (file{1}), " "), '\w+:\w+(?=[;.,])', "match");
%!     for i = 1:numel (examples)
%!       [status, out, id] = paste (examples{i}, place, settings);
%!       assert (status == 0 || any (strcmp (id, promised)), "%s:\n%s\n%s", file{1}, strjoin (examples{i}, "\n"), out);
%!       assert (isempty (strfind (out, "truth values")), "%s: %s", file{1}, out);
%!     endfor
%!   endfor
%!   assert (with_examples >= 7);
%! unwind_protect_cleanup
%!   confirm_recursive_rmdir (false, "local");
%!   rmdir (place, "s");
%! end_unwind_protect

%!test # that of compile_mex, too; a script plays cargo, and "builds" the library that is there
%! place = tempname ();
%! mkdir (place);
%! unwind_protect
%!   cargo = fullfile (place, "cargo");
%!   fid = fopen (cargo, "w");
%!   fprintf (fid, "#!/bin/sh\necho '{\"filenames\":[\"%s/libstencil_mex.so\"]}'\n", folder);
%!   fclose (fid);
%!   system (["chmod +x " cargo]);
%!   [status, out] = paste (examples_of (fullfile (folder, "compile_mex.m")){1}, fileparts (folder), ...
%!                          {["PATH=" place ":" getenv("PATH")]});
%!   assert (status == 0 && ! isempty (regexp (out, 'Built: .*StencilConstantMemory_CUDA\.mex', "once")), "%s", out);
%!   assert (! isempty (regexp (out, '\s6\s+7\s+8\s+9\s+10', "once")), "%s", out);
%! unwind_protect_cleanup
%!   confirm_recursive_rmdir (false, "local");
%!   rmdir (place, "s");
%! end_unwind_protect

%!test # Contents.m has every function, with the first line of its help
%! [~, names] = cellfun (@fileparts, files, "UniformOutput", false);
%! listed = regexp (fileread (fullfile (folder, "Contents.m")), '^%   (\w+) +- (.*)$', "tokens", ...
%!                  "lineanchors", "dotexceptnewline");
%! assert (sort (cellfun (@(entry) entry{1}, listed, "UniformOutput", false)), setdiff (names, {"Contents"})');
%! for entry = listed
%!   [name, words] = entry{1}{:};
%!   [~, at] = ismember (name, names);
%!   assert (strtrim (help_lines (files{at}){1}), [name "  " words]);
%! endfor

%!test # what makes steps fast comes first
%! for file = {fullfile(folder, "Contents.m"), fullfile(folder, "@DeviceArray", "DeviceArray.m")}
%!   text = strjoin (help_lines (file{1})(1:10), "\n");
%!   assert (! isempty (strfind (text, "DeviceArray.iterate")) && ! isempty (strfind (text, "DeviceArray.compile")), "%s", file{1});
%! endfor

%!test # "help" finds it by its name, and by the end of its folder's path
%! for topic = {"Contents", regexp(folder, '[^/]+/[^/]+$', "match", "once")}
%!   [~, out] = run_octave (["help " topic{1}]);
%!   assert (! isempty (strfind (out, "ConvolutionConstantMemory_CUDA - Filter over")), "%s", out);
%! endfor

%!function run_example (file, lines)
%!  ## A line with "% VALUE" at its end has that value.
%!  for line = lines
%!    said = regexp (line{1}, '^ *(.*?) +% (.*)$', "tokens", "once");
%!    if (isempty (said))
%!      evalc ([line{1} ";"]);
%!    else
%!      got = gather (eval (said{1}));
%!      assert (isequal (got, eval (["[" said{2} "]"])), "%s: %s\n%s", file, line{1}, disp (got));
%!    endif
%!  endfor
%!endfunction

%!test # each method of DeviceArray says what it does, and shows it
%! assert (numel (methods) > 20);
%! for file = methods'
%!   lines = help_lines (file{1});
%!   [~, name] = fileparts (file{1});
%!   assert (strncmp (lines{1}, [name "  "], numel (name) + 2), "%s: %s", file{1}, lines{1});
%!   first = find (strcmp (lines, "   Example"));
%!   last = find (cellfun (@isempty, lines));
%!   assert (numel (first) == 1, "%s has no example", file{1});
%!   run_example (name, lines(first+1:last(find (last > first, 1))-1));
%! endfor

%!function x = in_step (code__, u, v, m)
%!  ## Evaluates an entry of the list of iterate's help: its result, or the array that it changes.
%!  [s, i, j, k, F, d] = deal (1.5, [3 1 2], [2 2 4], [1 -2 1], magic (3) / 45, 0.5);
%!  x = [];
%!  if (! isempty (regexp (code__, '^\w+$', "once")))
%!    x = feval (code__, u);
%!  elseif (! isempty (regexp (code__, '\) = ', "once")))
%!    eval ([code__ ";"]);
%!    x = u;
%!  else
%!    x = eval ([code__ ";"]);
%!  endif
%!  x = double (x)(:);
%!endfunction
%!
%!function [x, u, v, m] = swapping (code, x, u, v, m)
%!  x = in_step (code, u, v, m);
%!  [u, v, m] = deal (v, u, ! m);
%!endfunction

%!test # a step may use this list: each entry of the list is recorded, and has the bits of the plain loop
%! lines = help_lines (fullfile (folder, "@DeviceArray", "iterate.m"));
%! first = find (strncmp (lines, "   A step may use this list", 27));
%! last = first + find (cellfun (@isempty, lines(first+1:end)), 1);
%! list = strjoin (lines(first+3:last-1)(strncmp (lines(first+3:last-1), "     ", 5)), ",");
%! outside = cumsum ((list == "(") + (list == "[") - (list == ")") - (list == "]")) == 0;
%! list(list == "," & outside) = "\n";
%! entries = strtrim (strsplit (list, "\n"));
%! entries(cellfun (@isempty, entries)) = [];
%! assert (numel (entries) > 100);
%! rand ("twister", 4);
%! [u, v, m] = deal (DeviceArray (rand (4) - 0.3), DeviceArray (rand (4) + 0.1), DeviceArray (rand (4) > 0.5));
%! for entry = entries
%!   step = @(varargin) swapping (entry{1}, varargin{:});
%!   try
%!     states = {DeviceArray(0 * in_step (entry{1}, u, v, m)), u, v, m};
%!     DeviceArray.rng (1);
%!     got = DeviceArray.iterate (step, 2, states{:}, "States", 4);
%!   catch err
%!     error ("%s is no part of a step: %s", entry{1}, err.message);
%!   end_try_catch
%!   DeviceArray.rng (1);
%!   want = plain_steps (step, 2, states){1};
%!   assert (same_bits (gather (got), want), "%s", entry{1});
%! endfor

%!test # "help @DeviceArray/NAME" finds it
%! ## In a fresh session: where Octave has loaded a class it looks elsewhere, and "help DeviceArray.NAME" finds it.
%! for topic = {"@DeviceArray/norm", "@DeviceArray/zeros", "@DeviceArray/gather", "DeviceArray.iterate", "DeviceArray.compile"}
%!   [~, out] = run_octave (["help " topic{1}]);
%!   name = regexp (topic{1}, '\w+$', "match", "once");
%!   assert (! isempty (regexp (out, ["^" name "  [A-Z]"], "once", "lineanchors")), "%s", out);
%! endfor
%! if (own_type ())
%!   return
%! endif
%! for method = {"plus", "u + v"; "abs", "abs (u)"; "sum", "sum  Sums"; "zeros", "zeros  Array"}'
%!   [text, format] = get_help_text (["DeviceArray." method{1}]);
%!   assert (any (strcmp (format, {"plain text", "Not found", "Not documented"})));
%!   if (strcmp (format, "plain text"))
%!     assert (strncmp (strtrim (text), method{2}, numel (method{2})), "%s", text);
%!   else
%!     ## Octave 7 is one that finds it.
%!     assert (compare_versions (OCTAVE_VERSION, "8", ">="));
%!   endif
%! endfor

%!test # the function that stands for the class in Octave has the same help, tests and demo
%! paths = {{"@DeviceArray", "octave", "native", "@DeviceArray"}, {"@DeviceArray"}};
%! both = cellfun (@(path) fullfile (folder, path{:}, "DeviceArray.m"), paths, "UniformOutput", false);
%! assert (help_lines (both{1}), help_lines (both{2}));
%! blocks = cellfun (@(file) regexp (fileread (file), '%!demo.*', "match", "once"), both, "UniformOutput", false);
%! assert (! isempty (blocks{1}) && strcmp (blocks{:}));
