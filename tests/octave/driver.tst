## Forked processes, and failing calls of the driver for CUDA. (Every single
## fault, without a host: tests/system/faults.rs.)

%!shared right
%! right = ["function yes = right (varargin), " ...
%!          "yes = isequal (StencilConstantMemory_CUDA (1:4, [1 2 3], varargin{:}), [8 14 20 11]); end"];

## --- Fork ------------------------------------------------------------------------

## Forks a child, which runs this and exits as Octave exits, exit functions
## included. It must not call the driver, which does not work after a fork: the
## stand-in for it ends such a process with the status 87.
%!function check_fork (right, child)
%!  [status, out] = run_octave ({
%!    right
%!    "big = noise (1, 1, 3e4);"
%!    "want = StencilConstantMemory_CUDA (big, [1 2 3], 'Backend', 'cuda');"
%!    "assert (right ('Backend', 'cuda'));"
%!    "for i = 1:2"
%!    "  [pid, text] = fork ();"
%!    "  assert (pid >= 0, text);"
%!    "  if (pid == 0)"
%!    child
%!    "    exit (0);"
%!    "  end"
%!    "  [~, status] = waitpid (pid);"
%!    "  if (WIFEXITED (status)), printf ('<%d>', WEXITSTATUS (status));"
%!    "  else, printf ('<signal %d>', WTERMSIG (status)); end"
%!    "  assert (right ('Backend', 'cuda'));"
%!    "  assert (same_bits (StencilConstantMemory_CUDA (big, [1 2 3], 'Backend', 'cuda'), want));"
%!    "end"
%!    "disp ('<parent>');"}, {"STENCIL_BACKEND=cuda"});
%!  assert (status == 0, "status %d: %s", status, out);
%!  said = [regexp(out, '<[^>]*>', "match"){:}];
%!  assert (strcmp (said, "<0><0><parent>"), "%s", out);
%!endfunction

%!testif ; has_gpu ()  # needs a GPU
%! ## It exits immediately.
%! check_fork (right, "");

%!testif ; has_gpu ()  # needs a GPU
%! ## It clears the functions first.
%! check_fork (right, "    clear all;");
%! check_fork (right, "    clear StencilConstantMemory_CUDA; clear -f;");

%!testif ; has_gpu ()  # needs a GPU
%! ## It computes on the processor; CUDA is an error there, each time.
%! check_fork (right, [
%!   "    if (! right ('Backend', 'cpu')), exit (2); end;" ...
%!   "    for j = 1:2;" ...
%!   "      id = 'none'; try, right ('Backend', 'cuda'); catch err, id = err.identifier; end;" ...
%!   "      if (! strcmp (id, 'StencilConstantMemory:noDevice')), exit (3); end;" ...
%!   "    end;" ...
%!   "    if (! isstruct (ConstantMemoryDevice_CUDA ())), exit (4); end;" ...
%!   "    if (! right ('Backend', 'cpu')), exit (5); end;"]);

%!testif ; has_gpu ()  # needs a GPU
%! ## Commands and pipes of the host fork too, and then become something else.
%! [status, out] = run_octave ({
%!   right
%!   "assert (right ());"
%!   "for i = 1:3"
%!   "  [status, text] = system ('echo command'); assert (status, 0); assert (strtrim (text), 'command');"
%!   "  assert (right ());"
%!   "  [in, from, pid] = popen2 ('cat'); fputs (in, \"pipe\\n\"); fclose (in);"
%!   "  assert (right ());"
%!   "  [~, status] = waitpid (pid); assert (WEXITSTATUS (status), 0); assert (fgetl (from), 'pipe'); fclose (from);"
%!   "  assert (right ());"
%!   "end"
%!   "disp ('<all right>');"}, {"STENCIL_BACKEND=cuda"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "<all right>")), "%s", out);

## --- Calls of the driver that fail ---------------------------------------------------

%!testif ; on_stand_in ()  # needs the stand-in for the CUDA driver, which fails at will
%! ## Makes each of the first calls of the driver in a process fail in turn. While no device can be opened, auto
%! ## computes on the processor and warns; later the call is an error that names the resource or the fault. Then all
%! ## works again.
%! code = {
%!   right
%!   "function say (varargin), printf ('<%s>', sprintf (varargin{:})); end"
%!   "try, say ('%d', right ()); catch err, say (err.identifier); end, say ('then');"
%!   "try, say ('%d', right ()); catch err, say (err.identifier); end"
%!   "say ('%d', right ('Backend', 'cpu'));"};
%! ## The driver's status and its duration: out of memory, once and permanently; an illegal address, while the context
%! ## lives; the device lost for good. Later results are right, unless memory is still short.
%! opened = '<warned><1><then><1><1>';
%! kinds = {
%!   "2:0",   '<(1|StencilConstantMemory:outOfMemory)><then><1><1>'
%!   "2:1",   '<StencilConstantMemory:outOfMemory><then><(warned><1|StencilConstantMemory:outOfMemory)><1>'
%!   "700:2", '<(1|StencilConstantMemory:cuda)><then><1><1>'
%!   "46:3",  '<StencilConstantMemory:cuda><then><warned><1><1>'};
%! outcomes = "";
%! for call = [1:5, 15:36]   # those between ask for attributes, as the fifth does
%!   for kind = 1:rows (kinds)
%!     ## One in four, among which are all outcomes; tests/system/faults.rs has all of them, without a host.
%!     if (mod (call + kind, 4) != 3 * (kind != 3) && ! takes ({"faults", call, kind}))
%!       continue
%!     endif
%!     fault = sprintf ("%d:%s", call, kinds{kind,1});
%!     [status, out] = run_octave (code, {"STENCIL_BACKEND=auto", ["CUDA_STAND_IN_FAIL=" fault]});
%!     assert (status == 0, "%s: status %d: %s", fault, status, out);
%!     ## Compares the output: Octave 11 has its own warnings after ours.
%!     warning_of_call = 'warning: StencilConstantMemory_CUDA: Computing on the CPU: [^\n]*cu[A-Z]\w*: CUDA_ERROR';
%!     said = regexprep (out, warning_of_call, "<warned>");
%!     said = [regexp(said, '<[\w:]+>', "match"){:}];
%!     wanted = sprintf ('^(%s|%s)$', opened, kinds{kind,2});
%!     assert (! isempty (regexp (said, wanted, "once")), "%s: %s", fault, out);
%!     outcomes = [outcomes, said];
%!   endfor
%! endfor
%! ## Else the faults did not come where anything was decided.
%! for word = {"<warned><1><then>", "<1><then>", ":outOfMemory><then><Stencil", ":outOfMemory><then><1>", ...
%!             ":outOfMemory><then><warned>", ":cuda><then><1>", ":cuda><then><warned>"}
%!   assert (! isempty (strfind (outcomes, word{1})), "no %s in %s", word{1}, outcomes);
%! endfor

## --- Arrays that stay on a device -------------------------------------------------

## A forked process has none of its parent's arrays, and says so; the parent goes on.
%!testif ; has_gpu ()  # needs a GPU
%! [status, out] = run_octave ({
%!   "u = DeviceArray (1:4); v = u + 1;"
%!   "[pid, text] = fork (); assert (pid >= 0, text);"
%!   "if (pid == 0)"
%!   "  id = 'none'; try, gather (v); catch err, id = err.identifier; end;"
%!   "  if (! strcmp (id, 'DeviceArray:deleted')), exit (2); end;"
%!   "  w = DeviceArray ([1 2], 'Backend', 'cpu') + 1;"
%!   "  if (! isequal (gather (w), [2 3])), exit (3); end;"
%!   "  id = 'none'; try, gather (u); catch err, id = err.identifier; end;"
%!   "  if (! strcmp (id, 'DeviceArray:deleted')), exit (4); end;"
%!   "  clear u v w; exit (0);"
%!   "end"
%!   "[~, status] = waitpid (pid); printf ('<%d>', WEXITSTATUS (status));"
%!   "assert (gather (v .* u), [2 6 12 20]); disp ('<parent>');"}, {"STENCIL_BACKEND=cuda"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (strcmp ([regexp(out, '<[^>]*>', "match"){:}], "<0><parent>"), "%s", out);

## Data decide where they are computed on; arrays on two devices cannot be
## combined.
%!testif ; on_stand_in ()  # needs the stand-in for the CUDA driver
%! [status, out] = run_octave ({
%!   "function fails_with (id, word, f)"
%!   "  try, f (); error ('no error'); catch err, end"
%!   "  assert (strcmp (err.identifier, id), [err.identifier ' ' err.message]);"
%!   "  assert (any (strfind (err.message, word)), err.message);"
%!   "end"
%!   "x = 1:5; k = [1 2 1];"
%!   "u = DeviceArray (x, 'Device', 1); v = DeviceArray (x, 'Device', 2); w = DeviceArray (x, 'Backend', 'cpu');"
%!   "assert ([device(u) device(v) device(w)], [1 2 0]);"
%!   "for a = {u, v, w}"
%!   "  y = StencilConstantMemory_CUDA (a{1}, k);"
%!   "  assert (gather (y), StencilConstantMemory_CUDA (x, k)); assert (device (y), device (a{1}));"
%!   "end"
%!   "assert (device (StencilConstantMemory_CUDA (v, k, 'Device', 2, 'Backend', 'cuda')), 2);"
%!   "fails_with ('DeviceArray:dataType', 'gather', @() u + v);"
%!   "fails_with ('DeviceArray:dataType', 'gather', @() w .* u);"
%!   "fails_with ('StencilConstantMemory:option', 'gather', @() StencilConstantMemory_CUDA (u, k, 'Device', 2));"
%!   "fails_with ('StencilConstantMemory:option', 'gather', @() StencilConstantMemory_CUDA (u, k, 'Backend', 'cpu'));"
%!   "fails_with ('StencilConstantMemory:option', 'gather', @() StencilConstantMemory_CUDA (w, k, 'Backend', 'cuda'));"
%!   "fails_with ('StencilConstantMemory:dataType', 'gather', @() StencilConstantMemory_CUDA (x, u));"
%!   "fails_with ('ConvolutionConstantMemory:dataType', 'gather', @() ConvolutionConstantMemory_CUDA (u, v));"
%!   "assert (class (gather (StencilConstantMemory_CUDA (single (u), k))), 'single');"
%!   "disp ('<done>');"}, {"CUDA_STAND_IN_DEVICES=2", "STENCIL_BACKEND=cuda"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (any (strfind (out, "<done>")), "%s", out);
