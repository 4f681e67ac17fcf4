## The scripts in examples/: each runs to its end in this Octave, checks itself, and is of a screen's length. And the recipes
## of docs/reference.md.

%!shared folder
%! folder = fullfile (fileparts (file_in_loadpath ("run_octave.m")), "..", "..");

%!function out = run_script (script__)
%!  ## In a workspace of its own, with what it prints as a result.
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
