## The scripts in examples/: each runs to its end in this Octave, checks itself, and is of a screen's length. And the recipes
## of docs/reference.md.

%!shared folder
%! folder = fullfile (fileparts (file_in_loadpath ("run_octave.m")), "..", "..");

%!function out = run_script (script__)
%!  ## Runs in its own workspace, and returns its output.
%!  out = evalc ("run (script__)");
%!endfunction
%!
%!function scripts = all_examples (folder)
%!  scripts = glob (fullfile (folder, "examples", "*.m"));
%!endfunction

%!test # each runs, prints something, and checks something
%! for script = all_examples (folder)'
%!   out = run_script (script{1});
%!   assert (! isempty (strtrim (out)), "%s prints nothing", script{1});
%!   assert (! isempty (regexp (fileread (script{1}), '^\s*assert \(', "once", "lineanchors")), "%s checks nothing", script{1});
%! endfor

%!test # they are numbered from 1, of 10 to 60 lines, and begin with what they are about
%! scripts = all_examples (folder);
%! assert (numel (scripts) >= 10);
%! for i = 1:numel (scripts)
%!   [~, name] = fileparts (scripts{i});
%!   assert (strncmp (name, sprintf ("e%02d_", i), 4), "%s is not number %d", name, i);
%!   text = fileread (scripts{i});
%!   lines = sum (text == "\n");
%!   assert (lines >= 10 && lines <= 60, "%s has %d lines", name, lines);
%!   assert (strncmp (text, "% ", 2), "%s does not begin with a comment", name);
%! endfor

%!error <no longer true>  # one that fails is an error here
%! script = [tempname(), ".m"];
%! fid = fopen (script, "w");
%! fputs (fid, "x = 1;\nassert (x == 2, 'no longer true');\n");
%! fclose (fid);
%! unwind_protect
%!   run_script (script);
%! unwind_protect_cleanup
%!   delete (script);
%! end_unwind_protect

%!function recipes = all_recipes (folder)
%!  ## The blocks of code below "## Solvers" and "## Coming from other functions", each with the heading above it.
%!  recipes = cell (0, 2);
%!  section = heading = code = "";
%!  within = false;
%!  for line = strsplit (fileread (fullfile (folder, "docs", "reference.md")), "\n")
%!    line = line{1};
%!    if (within && strcmp (line, "```"))
%!      within = false;
%!      if (any (strcmp (section, {"Solvers", "Coming from other functions"})))
%!        recipes(end+1,:) = {heading, code};
%!      endif
%!    elseif (within)
%!      code = [code, line, "\n"];
%!    elseif (strcmp (line, "```matlab"))
%!      within = true;
%!      code = "";
%!    elseif (strncmp (line, "## ", 3))
%!      section = heading = line(4:end);
%!    elseif (strncmp (line, "### ", 4))
%!      heading = line(5:end);
%!    endif
%!  endfor
%!endfunction
%!
%!function check_recipe (heading__, code__)
%!  ## Runs it, and checks its results.
%!  n = 8;
%!  printed__ = evalc (code__);
%!  assert (isempty (strfind (printed__, "truth values")), printed__);
%!  switch (heading__)
%!    case "A wall with a flux"
%!      assert (diff (u) / h, 2 * ones (n - 1, 1), 1e-9);
%!    case "Staggered grids"
%!      assert (p, cos (2 * pi * x) * cos (2 * pi * steps * dt), 1e-4);
%!    case "An absorbing layer"
%!      assert (max (abs (u)) < 0.02 && max (abs (before)) < 0.02);
%!    case "Checkpoints"
%!      assert (state.part, 3);
%!      assert (isequal ({state.u, state.before}, {u, before}));
%!    case "Zeros, NaN and gaps"
%!      assert (P(3,5), dot (A([2 4],4:6)(:), F([1 3],:)(:)) / sum (F([1 3],:)(:)), 1e-13);
%!      assert (P(7:8,:), (conv2 (A, F, "same") ./ conv2 (ones (8), F, "same"))(7:8,:), 1e-13);
%!      assert (Q, conv2 (A, L, "same"), 1e-12);
%!    case "Other rates"
%!      full = conv (u, k);
%!      assert (y, full(1:q:end), 1e-14);
%!  endswitch
%!endfunction

%!test # the recipes run, and give what the reference says
%! recipes = all_recipes (folder);
%! assert (all (ismember ({"Solvers", "A wall with a flux", "Staggered grids", "An absorbing layer", "Checkpoints", ...
%!                         "Zeros, NaN and gaps", "Other rates"}, recipes(:,1))));
%! before = getenv ("STENCIL_BACKEND");
%! unwind_protect
%!   if (on_stand_in ())
%!     setenv ("STENCIL_BACKEND", "cpu");
%!   endif
%!   for recipe = recipes'
%!     check_recipe (recipe{:});
%!   endfor
%! unwind_protect_cleanup
%!   setenv ("STENCIL_BACKEND", before);
%! end_unwind_protect

%!test # a staggered filter lands between samples, on one side or the other
%! f = @(x) x .^ 3;
%! x = (1:20)';
%! for where = {[0 1 -27 27 -1], 0.5; [1 -27 27 -1 0], -0.5}'
%!   y = StencilConstantMemory_CUDA (f (x), where{1} / 24);
%!   assert (y(4:17), 3 * (x(4:17) + where{2}) .^ 2, 1e-10);
%! endfor

%!test # even filters land where those of other functions do
%! x = rand (1, 30);
%! k = rand (1, 6);
%! S = @StencilConstantMemory_CUDA;
%! assert (S (x, [0 flip(k)]), conv (x, k, "same"), 1e-14);
%! full = S (x, [0 flip(k)], "Shape", "full");
%! assert (full(1:end-1), conv (x, k), 1e-14);
%! assert (full(1:30), filter (k, 1, x), 1e-14);
%! A = rand (9, 8);
%! h = rand (4, 2);
%! assert (ConvolutionConstantMemory_CUDA (A, [h zeros(4, 1); zeros(1, 3)], "conv"), conv2 (A, h, "same"), 1e-14);

%!test # links between the documents lead to files and headings that are there
%! files = [glob(fullfile (folder, "*.md")); glob(fullfile (folder, "docs", "*.md")); ...
%!          glob(fullfile (folder, "docs", "kernels", "*.md"))];
%! for file = files'
%!   links = regexp (fileread (file{1}), '\]\(([^)\s]+)\)', "tokens");
%!   for link = [links{:}]
%!     if (regexp (link{1}, '^https?:'))
%!       continue
%!     endif
%!     [path, anchor] = strtok (["./" link{1}], "#");
%!     target = fullfile (fileparts (file{1}), path);
%!     if (strcmp (path, "./"))
%!       target = file{1};
%!     endif
%!     assert (exist (target) != 0, "%s: there is no %s", file{1}, link{1});
%!     if (! isempty (anchor))
%!       headings = regexp (fileread (target), '^#+ +([^\n]*)', "tokens", "lineanchors");
%!       headings = regexprep (lower ([headings{:}]), {'[^\w\- ]', ' '}, {'', '-'});
%!       assert (any (strcmp (headings, anchor(2:end))), "%s: there is no heading %s", file{1}, link{1});
%!     endif
%!   endfor
%! endfor
