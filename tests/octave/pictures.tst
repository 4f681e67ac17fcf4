## The demos' pictures, looked at where they would be written.

%!function code = demos ()
%!  ## Runs all demos, and prints the faults of their figures: this function shadows Octave's own.
%!  folder = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
%!  files = glob (fullfile (folder, "*_Demo.m"));
%!  [~, names] = cellfun (@fileparts, files, "UniformOutput", false);
%!  names(strcmp (names, "ConstantMemoryStudy_Demo")) = [];  # it draws what a GPU has measured
%!  calls = strcat (names, " (pwd ());");
%!  if (on_stand_in ())
%!    ## A kernel that is written at run time is interpreted there, and this demo has many points.
%!    calls = strrep (calls, "AcousticWave_Demo (pwd ())", "AcousticWave_Demo (pwd (), 'cpu')");
%!  endif
%!  code = [{"function print (fig, file, varargin)"; "  [~, name] = fileparts (file);"; ...
%!           "  printf ('@%s.png\\n', name);"; ...
%!           "  cellfun (@(fault) printf ('#%s\\n', fault), picture_faults (fig));"; "end"}; calls];
%!endfunction

%!testif ; any (strcmp (available_graphics_toolkits (), "gnuplot"))  # needs gnuplot
%! ## Every axis has a name and a unit, every one of several curves an entry in a legend.
%! [status, out] = run_octave (demos ());
%! assert (status == 0 && isempty (regexp (out, '^(#.|warning:)', "once", "lineanchors")), "%s", out);
%! drawn = regexp (out, '^@(\S+)$', "tokens", "lineanchors");
%! assert (numel (drawn), 13);
