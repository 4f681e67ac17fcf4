## A user's first minute with Octave and nothing else: the package goes from its file into the user's own folder, is
## loaded, called by the README's five lines, tested, draws a picture, is described and uninstalled. Each step is a session
## of its own. STENCIL_PACKAGES names the folder with the package; STENCIL_EMULATED says that no time matters.

%!function out = as_user (home, code)
%!  fid = fopen (fullfile (home, "session.m"), "w");
%!  fprintf (fid, "%s\n", cellstr (code){:});
%!  fclose (fid);
%!  [status, out] = system (sprintf ("cd '%s' && env -u XDG_DATA_HOME HOME='%s' %s --norc --quiet session.m 2>&1", home, ...
%!                                   home, getenv ("STENCIL_TEST_OCTAVE")));
%!  if (status != 0)
%!    error ("%s", out);
%!  endif
%!endfunction
%!
%!function lines = five_lines ()
%!  text = fileread (fullfile (fileparts (which ("installed")), "..", "..", "README.md"));
%!  lines = strsplit (regexp (text, "\n## Five lines\n\n```matlab\n(.*?)\n```", "tokens", "once"){1}, "\n");
%!endfunction

%!shared home, package
%! home = tempname ();
%! mkdir (home);
%! package = glob (fullfile (getenv ("STENCIL_PACKAGES"), "stencil-mex-*.tar.gz")){1};

%!test  # within a minute it is installed, has computed, and has passed its tests
%! start = tic ();
%! as_user (home, ["pkg install -local '" package "'"]);
%! lines = five_lines ();
%! out = as_user (home, [{"pkg load stencil-mex"}, lines]);
%! expected = regexp (lines, '% an? \w+:([ \d]+)$', "tokens", "once");
%! expected = cellfun (@(token) sscanf (token{1}, "%f").', expected(! cellfun (@isempty, expected)), "UniformOutput", false);
%! printed = cellfun (@(token) sscanf (token{1}, "%f").', regexp (out, 'ans =\s+(?:DeviceArray,[^\n]*)?([\s\d]+)', "tokens"), ...
%!                    "UniformOutput", false);
%! assert (numel (expected) >= 2);
%! assert (printed, expected);
%! out = as_user (home, {"pkg load stencil-mex", "pkg test stencil-mex"});
%! count = @(what) str2double (regexp (out, ['^ *' what ' +(\d+)'], "tokens", "once", "lineanchors"){1});
%! assert (count ("PASS") > 30 && count ("FAIL") == 0, "%s", out);
%! if (isempty (getenv ("STENCIL_EMULATED")))
%!   assert (toc (start) < 60);
%! endif

%!test  # a demo draws pictures
%! out = as_user (home, {"pkg load stencil-mex", "StencilConstantMemory_Demo (pwd ())"});
%! assert (! isempty (strfind (out, "outputArray  6 7 8 9 10 11")), "%s", out);
%! for picture = {"stencil_demo_1.png", "stencil_demo_2.png"}
%!   bytes = fileread (fullfile (home, picture{1}));
%!   assert (strncmp (bytes, [char(137) "PNG"], 4) && numel (bytes) > 5000, "%s", picture{1});
%! endfor

%!test  # it tells what it has, by categories
%! out = as_user (home, "pkg describe -verbose stencil-mex");
%! text = fileread (glob (fullfile (getenv ("STENCIL_PACKAGES"), "stencil-mex-*", "INDEX")){1});
%! lines = strsplit (strtrim (text), "\n")(2:end);
%! assert (numel (lines) > 10);
%! for line = lines
%!   assert (! isempty (strfind (out, strtrim (line{1}))), "%s is not in:\n%s", line{1}, out);
%! endfor

%!test  # it goes
%! as_user (home, "pkg uninstall -local stencil-mex");
%! [~, left] = system (["find '" home "' -name '*stencil*mex*'"]);
%! assert (left, "");
%! confirm_recursive_rmdir (false, "local");
%! rmdir (home, "s");
