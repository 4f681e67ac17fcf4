## Hostile acts of a session: none may end or hang the session.

%!function folder = class_called_string (body)
%!  ## A class of the user's own that is called as MATLAB's, with a `char' like this.
%!  folder = tempname ();
%!  mkdir (folder);
%!  mkdir (fullfile (folder, "@string"));
%!  write = @(name, text) fdisp_text (fullfile (folder, "@string", name), text);
%!  write ("string.m", "function o = string ()\n  o = class (struct ('x', 1), 'string');\nend\n");
%!  write ("char.m", body);
%!endfunction

%!function fdisp_text (file, text)
%!  fid = fopen (file, "w");
%!  fputs (fid, text);
%!  fclose (fid);
%!endfunction

%!test # a class called string whose char returns itself, nothing, a number, a text
%! bodies = {"function s = char (o)\n  s = o;\nend\n", ...
%!           "function varargout = char (o)\n  varargout = {};\nend\n", ...
%!           "function s = char (o)\n  s = 5;\nend\n", ...
%!           "function s = char (o)\n  error ('no');\nend\n", ...
%!           "function s = char (o)\n  s = 'Backend';\nend\n"};
%! ids = {"numberOfInputs", "numberOfInputs", "numberOfInputs", "numberOfInputs", ""};
%! for i = 1:numel (bodies)
%!   folder = class_called_string (bodies{i});
%!   unwind_protect
%!     [status, out] = run_octave ({
%!       sprintf("addpath ('%s');", folder)
%!       "id = '';"
%!       "try, y = StencilConstantMemory_CUDA (1:3, 1, string (), 'cpu'); assert (y, 1:3);"
%!       "catch e, id = e.identifier; end"
%!       "printf ('<%s>', strrep (id, 'StencilConstantMemory:', ''));"
%!       "try, StencilConstantMemory_CUDA (string (), 1);"
%!       "catch e, assert (e.identifier, 'StencilConstantMemory:dataType'); end"
%!       "assert (StencilConstantMemory_CUDA (1:3, 1, 'Backend', 'cpu'), 1:3);"
%!       "disp ('alive');"});
%!   unwind_protect_cleanup
%!     confirm_recursive_rmdir (false, "local");
%!     rmdir (folder, "s");
%!   end_unwind_protect
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (! isempty (strfind (out, ["<" ids{i} ">"])), out);
%!   assert (! isempty (strfind (out, "alive")), out);
%! endfor

%!testif ; exist ("/dev/full", "file")  # needs /dev/full
%! ## A trace that cannot be written is a trace less, not a session less.
%! code = "StencilConstantMemory_CUDA (1:5, 1, ''Backend'', ''cpu''); disp (''alive'');";
%! paths = sprintf ("addpath (''%s''); ", fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex")));
%! line = sprintf ("env STENCIL_TRACE=1 %s --norc --quiet --eval '%s' 2>/dev/full", getenv ("STENCIL_TEST_OCTAVE"), ...
%!                 strrep ([paths, code], "''", "\""));
%! [status, out] = system (line);
%! assert (status == 0, "status %d: %s", status, out);
%! assert (strtrim (out), "alive");

%!test # the trace says what was called and how long each step took
%! [status, out] = run_octave ("y = StencilConstantMemory_CUDA (1:5, 1, 'Backend', 'cpu');", {"STENCIL_TRACE=1"});
%! assert (status == 0, "status %d: %s", status, out);
%! pattern = 'StencilConstantMemory_CUDA: read [\d.]+ us, made [\d.]+ us, run [\d.]+ us';
%! assert (! isempty (regexp (out, pattern, "once")), out);

%!test # 0 and nothing ask for no trace
%! for value = {"0", ""}
%!   [status, out] = run_octave ("y = StencilConstantMemory_CUDA (1:5, 1, 'Backend', 'cpu');", {["STENCIL_TRACE=" value{1}]});
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (isempty (strfind (out, "run ")), out);
%! endfor

%!test # a forked process computes with threads of its own, and ends by itself
%! [status, out] = run_octave ({
%!   "x = rand (1, 2e6); k = ones (1, 21);"
%!   "y = StencilConstantMemory_CUDA (x, k, 'Backend', 'cpu');"
%!   "[pid, msg] = fork ();"
%!   "if (pid == 0)"
%!   "  same = isequal (StencilConstantMemory_CUDA (x, k, 'Backend', 'cpu'), y);"
%!   "  clear StencilConstantMemory_CUDA"
%!   "  same = same && isequal (StencilConstantMemory_CUDA (x, k, 'Backend', 'cpu'), y);"
%!   "  exit (3 + 4 * same);"
%!   "end"
%!   "for i = 1:600"
%!   "  [done, child] = waitpid (pid, WNOHANG ());"
%!   "  if (done == pid), break, end"
%!   "  pause (0.1);"
%!   "end"
%!   "if (done ~= pid), kill (pid, 9); waitpid (pid); disp ('hung');"
%!   "else, printf ('child %d\\n', WEXITSTATUS (child)); end"
%!   "assert (isequal (StencilConstantMemory_CUDA (x, k, 'Backend', 'cpu'), y));"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "child 7")), out);

%!test # environment variables that make no sense are told, not passed over
%! for setting = {"STENCIL_DEVICE_BYTES=512M", "STENCIL_DEVICE_BYTES=-1", "STENCIL_THREADS=many", "STENCIL_THREADS=0"}
%!   [status, out] = run_octave ({
%!     "try, StencilConstantMemory_CUDA (1:4, 1, 'Backend', 'cpu');"
%!     "catch err, disp (err.identifier); disp (err.message); end"
%!     "d = ConstantMemoryDevice_CUDA ();"
%!     "printf ('<%s>', d.Backend);"}, setting);
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (! isempty (strfind (out, "StencilConstantMemory:option")), out);
%!   assert (! isempty (strfind (out, strtok (setting{1}, "="))), out);
%!   assert (! isempty (strfind (out, "<>")), out);
%! endfor
%! [status, out] = run_octave ({
%!   "d = ConstantMemoryDevice_CUDA (); printf ('%d %d\\n', d.Threads, d.DeviceBytes);"
%!   "assert (StencilConstantMemory_CUDA (1:4, 1, 'Backend', 'cpu'), 1:4);"}, ...
%!   {"STENCIL_THREADS=1", "STENCIL_DEVICE_BYTES=1e9"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "1 1000000000")), out);
