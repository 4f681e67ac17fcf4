## The blocks at the end of the help files: "test NAME", "example NAME" and "demo NAME" work, in a session of a user.

%!shared names
%! files = glob (fullfile (fileparts (which ("DeviceArray_CUDA")), "*_CUDA.m"))';
%! [~, names] = cellfun (@fileparts, files, "UniformOutput", false);
%! names = [setdiff(names, "DeviceArray_CUDA"), {"@DeviceArray/DeviceArray"}];

%!test # test NAME: there are tests, all pass, and none is skipped
%! for name = names
%!   evalc ("[n, nmax, nxfail, nbug, nskip] = test (name{1}, 'quiet', stdout);");
%!   assert (n > 0 && n == nmax && nxfail + nbug + nskip == 0, "%s: %d of %d", name{1}, n, nmax);
%! endfor

%!test # example NAME: there is one, and its code is code
%! for name = names
%!   [code, at] = example (name{1});
%!   assert (numel (at) >= 2, "%s has no demo", name{1});
%!   parsed = evalc (["if (false)\n" code "\nendif"]);
%!   assert (parsed, "");
%! endfor

%!testif ; any (strcmp (available_graphics_toolkits (), "gnuplot"))  # needs gnuplot
%! ## Runs the code of demo NAME.
%! for name = names
%!   code = {"graphics_toolkit ('gnuplot');"; "set (0, 'defaultfigurevisible', 'off');";
%!           sprintf("[code, at] = example ('%s');", name{1});
%!           "for i = 1:numel (at) - 1, eval (code(at(i):at(i+1)-1)); end"; ...
%!           "cellfun (@(fault) printf ('#%s\\n', fault), picture_faults (gcf ()));"; "disp ('at the end');"};
%!   [status, out] = run_octave (code);
%!   assert (! isempty (regexp (out, 'at the end\n', "once")) && status == 0, "%s: %s", name{1}, out);
%!   assert (isempty (regexp (out, '^#', "once", "lineanchors")), "%s: %s", name{1}, out);
%! endfor
