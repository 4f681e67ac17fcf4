## Lifetime of DeviceArrays: until the last reference goes, for whatever reason.
## DeviceArray_CUDA ("count") is the number of arrays that the library holds.

%!function n = live ()
%!  n = DeviceArray_CUDA ("count");
%!endfunction

%!function u = passed (u)
%!endfunction

%!function fail_with (varargin)
%!  u = DeviceArray ([1 2]);
%!  v = u + 1;
%!  c = {u, v + 1};
%!  error ("arrays_life:made", "on purpose");
%!endfunction

%!function f = closure (u)
%!  v = u + 1;
%!  f = @(k) gather (u + v + k);
%!endfunction

%!function y = recursive (u, depth)
%!  if (depth == 0)
%!    y = u;
%!  else
%!    y = recursive (u + 1, depth - 1);
%!  endif
%!endfunction

## --- Names ---------------------------------------------------------------------

%!test # one array, several names
%! before = live ();
%! u = DeviceArray ([1 2 3]);
%! assert (live (), before + 1);
%! v = u;
%! w = passed (v);
%! assert (live (), before + 1);
%! clear u v
%! assert (live (), before + 1);
%! assert (gather (w), [1 2 3]);
%! w = [];
%! assert (live (), before);

%!test # overwritten, element by element and whole
%! before = live ();
%! u = DeviceArray ([1 2 3]);
%! for k = 1:10
%!   u = u + 1;
%!   u(2) = k;
%!   u -= 1;
%! endfor
%! assert (live (), before + 1);
%! v = u;
%! v(1) = 0;
%! assert (live (), before + 2);
%! u = v = 1;
%! assert (live (), before);

%!test # 100,000 temporaries, or a tenth of them: none stays
%! [many, fewer] = {12000, 4000; 1200, 400}{1 + is_small (),:};
%! before = live ();
%! u = DeviceArray ([1 2 3]);
%! a = 0;
%! for k = 1:many
%!   a += sum (abs (-u + u .* 2 - 1) + 1);
%!   if (mod (k, 400) == 0)
%!     assert (live (), before + 1);
%!   endif
%! endfor
%! for k = 1:fewer
%!   v = sqrt (u) .* u;
%!   v = v(:);
%!   u.abs ().plus (1).gather ();
%!   gather (u(:) > 2);
%! endfor
%! clear v
%! assert (live (), before + 1);
%! assert (a, many * 6);
%! clear u
%! assert (live (), before);

%!test # values that no name takes
%! before = live ();
%! DeviceArray (1);
%! ans = 0;
%! DeviceArray (1) + 1;
%! ans = 0;
%! gather (DeviceArray (1));
%! evalc ("DeviceArray (1)");
%! clear ans
%! assert (live (), before);

%!test # in functions
%! before = live ();
%! u = DeviceArray ([1 2]);
%! y = recursive (u, 100);
%! assert (gather (y), [101 102]);
%! assert (live (), before + 2);
%! clear u y
%! assert (live (), before);

## --- Places --------------------------------------------------------------------

%!test # cells, structs, maps
%! before = live ();
%! c = cell (1, 20);
%! for k = 1:20
%!   c{k} = DeviceArray (k);
%! endfor
%! assert (live (), before + 20);
%! ## Not c(1:5): Octave makes a slice of neighbours part of the whole, and keeps that.
%! d = c([1 3 5 7 5]);
%! c(:) = {1};
%! assert (live (), before + 4);
%! assert (gather (d{5}), 5);
%! d(2) = [];
%! assert (live (), before + 3);
%! s.a = d;
%! s.b.c = DeviceArray (9);
%! clear c d
%! assert (live (), before + 4);
%! s = rmfield (s, "a");
%! assert (live (), before + 1);
%! assert (gather (s.b.c), 9);
%! t = [s, s];
%! t(1).b.c(1) = 4;
%! assert (live (), before + 2);
%! assert ([gather(t(1).b.c), gather(t(2).b.c)], [4 9]);
%! clear s t
%! assert (live (), before);
%! m = containers.Map ();
%! m("u") = DeviceArray (3);
%! assert (gather (m("u")), 3);
%! m.remove ("u");
%! assert (live (), before);

%!test # function handles and closures
%! before = live ();
%! f = closure (DeviceArray ([1 2]));
%! assert (live (), before + 2);
%! assert (f (4), [7 9]);
%! g = f;
%! clear f
%! assert (g (0), [3 5]);
%! clear g
%! assert (live (), before);
%! u = DeviceArray ([1 2]);
%! f = @plus;
%! assert (gather (f (u, 1)), [2 3]);
%! assert (cellfun (@(v) sum (v), {u, u + 1}), [3 5]);
%! r = cellfun (@(v) v + 1, {u, u}, "UniformOutput", false);
%! assert (live (), before + 3);
%! clear r u
%! assert (live (), before);

%!test # globals and persistent variables
%! before = live ();
%! global arrays_life_global
%! arrays_life_global = DeviceArray (5);
%! assert (live (), before + 1);
%! clear arrays_life_global
%! assert (live (), before + 1);
%! global arrays_life_global
%! assert (gather (arrays_life_global), 5);
%! clear -global arrays_life_global
%! assert (live (), before);

%!test # clean-up code runs with a live array
%! before = live ();
%! c = onCleanup (@() DeviceArray (1) + 1);
%! clear c
%! assert (live (), before);

## --- Copies and places ------------------------------------------------------------

## The shortest of some times that a statement takes.
%!function seconds = shortest (f)
%!  seconds = Inf;
%!  for k = 1:7
%!    seconds = min (seconds, f ());
%!  endfor
%!endfunction

%!function seconds = write_alone ()
%!  u = DeviceArray.zeros (2500, 2500, "Backend", "cpu");
%!  tic ();
%!  u(1,:) = 1;
%!  seconds = toc ();
%!  assert (gather (u(1:2,1)), [1; 0]);
%!endfunction

%!function seconds = write_shared (share)
%!  u = DeviceArray.zeros (2500, 2500, "Backend", "cpu");
%!  v = share (u);
%!  tic ();
%!  u(1,:) = 1;
%!  seconds = toc ();
%!  assert (gather (u(1:2,1)), [1; 0]);
%!  if (iscell (v))
%!    v = v{1};
%!  endif
%!  assert (v(1), 0);
%!endfunction

%!testif ; own_type ()  # the class gives SUBSASGN a second name
%! ## A device copies such an array very fast: only the processor shows it.
%! alone = shortest (@write_alone);
%! for share = {@(u) u, @(u) {u}, @(u) u(:,:), @(u) u(:), @(u) reshape(u, [], 1), @(u) double(u)}
%!   shared = shortest (@() write_shared (share{1}));
%!   assert (alone < shared / 5, "%s: %g s alone, %g s with a second name", func2str (share{1}), alone, shared);
%! endfor

%!test # what is assigned to never shows in another name
%! before = live ();
%! u = DeviceArray ([1 2 3]);
%! v = u;
%! c = {u, u(:), reshape(u, 3, 1), u(:,:), double(u), [u], u(), +u};
%! s.a = u;
%! f = @() u;
%! u(2) = 50;
%! u(1:2) = [7 8];
%! u(:) = 9;
%! assert (gather (u), [9 9 9]);
%! assert (gather (v), [1 2 3]);
%! for k = 1:numel (c)
%!   assert (gather (c{k})(:).', [1 2 3]);
%! endfor
%! assert (gather (s.a), [1 2 3]);
%! assert (gather (f ()), [1 2 3]);
%! c{1}(2) = 60;
%! s.a(2) = 70;
%! assert (gather (v), [1 2 3]);
%! assert (gather (c{1}), [1 60 3]);
%! assert (gather (s.a), [1 70 3]);
%! clear u v c s f
%! assert (live (), before);

%!test # an assignment that fails leaves the array as it was, and usable
%! before = live ();
%! u = DeviceArray ([1 2 3]);
%! for k = 1:20
%!   fail ("u(1:2) = [7 8 9]");
%!   fail ("u(1.5) = 7");
%!   fail ("u(0) = 7");
%!   fail ("u(2) = {1}");
%!   fail ("u(2) = 1i");
%!   fail ("u(2) = int64 (5)");
%!   fail ("u(:,:,[1 2]) = ones (7)");
%!   fail ("u(2).a = 3");
%! endfor
%! assert (gather (u), [1 2 3]);
%! u(2) = 5;
%! assert (gather (u), [1 5 3]);
%! assert (live (), before + 1);

%!function varargout = back (varargin)
%!  varargout = varargin;
%!endfunction

%!function u = changed (u)
%!  u(1) = 100;
%!endfunction

%!test # functions that return what they get
%! before = live ();
%! u = DeviceArray ([1 2 3]);
%! [a, b, c] = back (u, u, u + 1);
%! assert (live (), before + 2);
%! a(1) = 9;
%! assert (gather (u), [1 2 3]);
%! assert (gather (b), [1 2 3]);
%! v = changed (changed (u));
%! assert (gather (v), [100 2 3]);
%! assert (gather (u), [1 2 3]);
%! u = changed (u);
%! assert (gather (u), [100 2 3]);
%! assert (gather (b), [1 2 3]);
%! [u, v] = deal (v, u);
%! [u(1), v(2)] = deal (5, 6);
%! assert ([gather(u); gather(v)], [5 2 3; 100 6 3]);
%! clear a b c u v
%! assert (live (), before);

%!test # growth and deletion, over and over
%! before = live ();
%! u = DeviceArray ([]);
%! for k = 1:200
%!   u(end+1) = k;
%! endfor
%! u(2:2:end) = [];
%! u = [u, u; u, u];
%! u(:,1:50) = [];
%! u(3,60) = 1;
%! assert (live (), before + 1);
%! assert (size (u), [3 150]);
%! clear u
%! assert (live (), before);

## --- Errors --------------------------------------------------------------------

%!test # in the middle of a function, of an expression, of a cell
%! before = live ();
%! u = DeviceArray ([1 2 3]);
%! for k = 1:{100, 20}{1 + is_small ()}
%!   try
%!     fail_with (u);
%!     error ("no error");
%!   catch err
%!     assert (err.identifier, "arrays_life:made");
%!   end_try_catch
%!   fail ("u + (u + 1) + [1 2]");
%!   fail ("c = {u + 1, u(9)}");
%!   fail ("recursive (u + 1, -u)");
%!   fail ("u(1.5) = 1");
%!   fail ("u([1 2]) = 1:3");
%!   fail ("u(1) = {1}");
%!   fail ("[u + 1; 1 2]");
%!   fail ("[u + 1, {u + 2}; 3]");
%!   fail ("plot (u + 1)");
%!   fail ("u(u + 9)");
%! endfor
%! clear err
%! assert (live (), before + 1);
%! assert (gather (u), [1 2 3]);

%!test # a constructor that fails leaves nothing, and nothing is printed
%! before = live ();
%! out = evalc ("for k = 1:50, try, DeviceArray ('text'); catch, end, end");
%! out = [out, evalc("for k = 1:50, try, DeviceArray (1, 'Colour', 2); catch, end, end")];
%! out = [out, evalc("for k = 1:50, try, DeviceArray (); catch, end, end")];
%! assert (out, "");
%! assert (live (), before);

%!test # Ctrl-C in the middle of operations, at many moments: no array is lost, and the others are as they were
%! for work = {"v = DeviceArray (1:3);", "v = u + 1; c{1} = [u; u];", "w(1,:) = 0; w(end+1,1) = 1; w(end,:) = [];", ...
%!             "s = sum (u); t = u.'; m = u(u > 0);", "f = DeviceArray.compile (@(u) 2 * u, u); v = f (u);"}
%!   times = 0.01 + 0.02 * rand (1, 20);
%!   line = "tic; last = Inf; while (toc < last), %s if (isinf (last) && exist (stamp, 'file')), last = toc + 0.3; end, end";
%!   line = ["stamp = interrupt_me (%.4f); " sprintf(line, work{1}) ", disp ('<dropped>');"];
%!   lines = arrayfun (@(t) sprintf (line, t), times, "UniformOutput", false);
%!   [status, out] = typed ([{"u = w = DeviceArray (rand (30)); x = gather (u); c = {};"}, lines, ...
%!                           {"pause (0.3);", "assert (gather (u), x);", "assert (size (gather (w), 2), 30);", ...
%!                            "clear u v w c f s t m", "printf ('<%d>', DeviceArray_CUDA ('count')); exit (3);"}]);
%!   assert (! isempty (strfind (out, "<0>")) && isempty (strfind (out, "error: assert")), "%s: %s", work{1}, out);
%!   assert (status == 3, "status %d: %s", status, out);
%!   ## Octave may drop an interrupt while an action of onCleanup runs, with a warning or without.
%!   dropped = numel (strfind (out, "<dropped>"));
%!   may = ! own_type () || ! isempty (strfind (work{1}, "compile"));
%!   assert (dropped <= may * numel (times) / 2, "%d dropped: %s", dropped, out);
%! endfor

%!test # a forked process says that it has none of its parent's arrays on a GPU; the parent goes on
%! [status, out] = run_octave ({
%!   "u = DeviceArray (1:4); v = u + 1; c = {v, u};"
%!   "[pid, text] = fork (); assert (pid >= 0, text);"
%!   "if (pid == 0)"
%!   "  try, w = u + v; w(2) = 7; u(1) = 8; catch, end"
%!   "  clear u v w c; u = DeviceArray ([1 2], 'Backend', 'cpu') + 1; exit (0);"
%!   "end"
%!   "[~, status] = waitpid (pid); printf ('<%d %d>', WIFEXITED (status), WEXITSTATUS (status));"
%!   "assert (gather (v .* u), [2 6 12 20]); u(1) = 5; assert (gather (c{2}), 1:4);"
%!   "clear u v c; assert (DeviceArray_CUDA ('count'), 0); disp ('<parent>');"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (strcmp ([regexp(out, '<[^>]*>', "match"){:}], "<1 0><parent>"), "%s", out);

## --- delete ---------------------------------------------------------------------

%!test # by name it does nothing here, as often as one likes; the end of the last name frees
%! before = live ();
%! u = DeviceArray ([1 2 3]);
%! v = u;
%! w = u + 1;
%! out = evalc ("delete (u); delete (u); delete (w); u.delete ();");
%! assert (out, "");
%! assert (live (), before + 2);
%! assert (gather (u + w), [3 5 7]);
%! clear u
%! assert (live (), before + 2);
%! clear v
%! assert (live (), before + 1);
%! assert (gather (w), [2 3 4]);
%! clear w
%! assert (live (), before);

%!testif ; ! own_type ()  # the type frees its arrays itself
%! before = live ();
%! u = DeviceArray ([1 2 3]);
%! assert (live (), before + 1);
%! DeviceArray_CUDA ("delete", u);
%! DeviceArray_CUDA ("delete", u);
%! assert (live (), before);
%! for f = {@() gather(u), @() u + 1, @() u(1), @() size(u), @() sum(u), @() disp(u)}
%!   refused (f{1}, "", "");
%! endfor
%! clear f
%! assert (evalc ("clear u"), "");
%! assert (live (), before);

%!function rmdir_all (folder)
%!  confirm_recursive_rmdir (false, "local");
%!  rmdir (folder, "s");
%!endfunction

## Without a library for this Octave, the class alone makes objects.
%!test # without the library that makes objects: the same values, the same life
%! where = fileparts (which ("DeviceArray_CUDA"));
%! bare = tempname ();
%! cleaner = onCleanup (@() rmdir_all (bare));
%! mkdir (bare);
%! [status, out] = system (sprintf ("cp -RP '%s'/*.m '%s'/@* '%s'/*.mex '%s'/libstencil_mex.so '%s'/", where, where, where, where, bare));
%! assert (status == 0, "status %d: %s", status, out);
%! code = {"u = DeviceArray ([1 2 3]); v = u + 1; w = {v, u .* v}; assert (typeinfo (u), 'object');", ...
%!         "x = StencilConstantMemory_CUDA (v, [1 2 1]);", ...
%!         "assert (DeviceArray_CUDA ('count'), 4); assert (gather (w{2}), [2 6 12]);", ...
%!         "assert (gather (x), StencilConstantMemory_CUDA ([2 3 4], [1 2 1]));", ...
%!         "clear w x; assert (DeviceArray_CUDA ('count'), 2); u = v; clear u v;", ...
%!         "for i = 1:1000, u = DeviceArray ([i 1]) + 1; end, assert (DeviceArray_CUDA ('count'), 1);", ...
%!         "try, z(1:3) = u; catch err, assert (any (strfind (err.message, 'gather'))); end, assert (exist ('err') == 1);", ...
%!         "printf ('%s', 'done');"};
%! for ending = {"", " clear functions", " exit"}
%!   [status, out] = run_octave ([sprintf("addpath ('%s');", bare), code, ending]);
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (strtrim (strrep (out, exit_noise (), "")), "done");
%! endfor

## --- Files -------------------------------------------------------------------------

## Loads them in a session without our library.
%!function loading (code)
%!  file = [tempname() ".m"];
%!  fid = fopen (file, "w");
%!  fprintf (fid, "%s\n", "1;", code{:}, "disp ('loaded')");
%!  fclose (fid);
%!  [status, out] = system ([getenv("STENCIL_TEST_OCTAVE") " --norc --quiet " file " 2>&1"]);
%!  delete (file);
%!  assert (status == 0 && strcmp (strtrim (strrep (out, exit_noise (), "")), "loaded"), "%s", out);
%!endfunction

%!testif ; own_type ()  # a file has the values, of a variable, a struct, a cell and a workspace
%! place = tempname ();
%! mkdir (place);
%! unwind_protect
%!   [status, out] = run_octave ({
%!     "x = {magic(4), single([1.5 NaN; -Inf 2]), [true false], int8(-3:3)', uint32(7), zeros(0, 3), rand(2, 3, 2), 0.1, true};"
%!     "held = cellfun (@DeviceArray, x, 'UniformOutput', false);"
%!     "u = held{1}; s.a = held{2}; s.b = {held{4}, 'text'};"
%!     "for format = {'-text', '-binary', '-hdf5', '-v6', '-v7'}"
%!     sprintf("  save (format{1}, fullfile ('%s', ['all' format{1}]));", place)
%!     "  if (strcmp (format{1}, '-text')), [~, id] = lastwarn (); end"
%!     sprintf("  save (format{1}, fullfile ('%s', ['u' format{1}]), 'u');", place)
%!     "end"
%!     "assert (isa (u, 'DeviceArray') && isequal (gather (u), x{1}));"
%!     "printf ('<%s>', id);"});
%!   assert (status == 0 && ! isempty (strfind (out, "<DeviceArray:saved>")), "%s", out);
%!   assert (numel (strfind (out, "warning: A DeviceArray is saved")) == 1, "%s", out);
%!   loading ({
%!     "same = @(a, b) strcmp (class (a), class (b)) && size_equal (a, b) && isequaln (a, b);"
%!     "for format = {'-text', '-binary', '-hdf5', '-v6', '-v7'}"
%!     sprintf("  w = load (fullfile ('%s', ['all' format{1}]));", place)
%!     sprintf("  one = load (fullfile ('%s', ['u' format{1}]));", place)
%!     "  assert (all (cellfun (same, w.held, w.x)), format{1});"
%!     "  assert (same (w.u, w.x{1}) && same (one.u, w.x{1}) && same (w.s.a, w.x{2}) && same (w.s.b, {w.x{4}, 'text'}), format{1});"
%!     "end"});
%! unwind_protect_cleanup
%!   confirm_recursive_rmdir (false, "local");
%!   rmdir (place, "s");
%! end_unwind_protect

%!testif ; ! own_type ()  # of an object MATLAB's formats have the values, in a struct
%! file = tempname ();
%! x = single ([1 NaN; 3 4]);
%! u = DeviceArray (x);
%! v = DeviceArray.loadobj (saveobj (u));
%! assert (isa (v, "DeviceArray") && isequaln (gather (v), x) && isa (gather (v), "single"));
%! unwind_protect
%!   if (compare_versions (OCTAVE_VERSION, "11", ">="))
%!     ## It calls no saveobj, and cannot write the object's clean-up.
%!     fail ("save ('-v7', file, 'u')", "error while writing");
%!   else
%!     save ("-v7", file, "u");
%!     loading ({"warning ('off', 'all');", sprintf("u = load ('%s').u;", file), "assert (u.values, single ([1 NaN; 3 4]));"});
%!   endif
%! unwind_protect_cleanup
%!   delete (file);
%! end_unwind_protect

## --- clear and exit ---------------------------------------------------------------

## Octave 7 forgets the methods of every class with its functions, and finds them again
## when an object is indexed or the class is named. Until then u + 1 is Octave's error
## "plus method not defined for DeviceArray class". The arrays themselves stay.
%!test # functions are cleared, arrays stay
%! for way = {"clear DeviceArray_CUDA", "clear functions", "clear -f", "clear mex", "clear DeviceArray", ...
%!            "clear StencilConstantMemory_CUDA", "clear *_CUDA"}
%!   [status, out] = run_octave ({
%!     "u = DeviceArray ([1 2 3]);"
%!     "c = {u + 1};"
%!     way{1}
%!     "assert (u(2), 2); assert (gather (u(2:3)), [2 3]);"
%!     "assert (gather (u), [1 2 3]);"
%!     "v = c{1} + u;"
%!     way{1}
%!     way{1}
%!     "assert (v.gather (), [3 5 7]);"
%!     "assert (sum (v), 15); v(2) = 6; assert (gather (v), [3 6 7]); assert (v.size (), [1 3]);"
%!     "try, v ^ 2; catch err, assert (err.identifier, 'DeviceArray:unsupported'); end, clear err"
%!     "assert (DeviceArray_CUDA ('count'), 3);"
%!     "clear u c"
%!     "assert (DeviceArray_CUDA ('count'), 1);"
%!     way{1}
%!     "clear v"
%!     "assert (DeviceArray_CUDA ('count'), 0);"
%!     "disp ('done');"});
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (strtrim (strrep (out, exit_noise (), "")), "done");
%! endfor

%!test # clear all with live arrays, over and over
%! [status, out] = run_octave ({
%!   "for k = 1:3"
%!   "  u = DeviceArray ([k 2]); c = {u, u + 1}; s.a = u .* 2; f = @() u + 1;"
%!   "  global g; g = DeviceArray (5);"
%!   "  delete (c{2});"
%!   "end"
%!   "clear all"
%!   "assert (DeviceArray_CUDA ('count'), 0);"
%!   "u = DeviceArray ([1 2]); v = u + 1;"
%!   "clear all"
%!   "assert (DeviceArray_CUDA ('count'), 0);"
%!   "u = DeviceArray ([1 2]);"
%!   "clear -x nothing"
%!   "clear variables"
%!   "assert (DeviceArray_CUDA ('count'), 0);"
%!   "disp ('done');"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (strtrim (strrep (out, exit_noise (), "")), "done");

%!test # an exit with live arrays: status 0, not a word
%! ends = {"", "exit", "exit (0)", "clear DeviceArray_CUDA", "clear functions", "delete (u);", ...
%!         "try, DeviceArray ('a'), catch, end", "clear all", "rmpath (fileparts (which ('DeviceArray_CUDA')));"};
%! for k = 1:numel (ends)
%!   [status, out] = run_octave ({
%!     "global g; g = DeviceArray (1);"
%!     "u = DeviceArray ([1 2 3]); c = {u, u + 1}; s.a = c; f = @() u; h = @sum;"
%!     "v = u; DeviceArray (7);"
%!     ends{k}});
%!   ## Octave 9 and 11 do not destroy objects that the class's constructor made, once the functions are gone: their
%!   ## arrays end with the process, and the stand-in for the driver reports them.
%!   if (status == 86 && on_stand_in () && isempty (helper ("object")) && any (strcmp (ends{k}, ends([5 9]))))
%!     assert (! isempty (strfind (out, "there are alive")), "%s", out);
%!     continue
%!   endif
%!   assert (status == 0, "%s: status %d: %s", ends{k}, status, out);
%!   assert (isempty (strrep (out, exit_noise (), "")), out);
%! endfor

%!test # an exit by an error with live arrays
%! [status, out] = run_octave ({"u = DeviceArray ([1 2 3]); c = {u + 1};", "error ('arrays_life:end', 'the end');"});
%! assert (status == 1, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "the end")), out);
%! assert (isempty (strfind (out, "DeviceArray_CUDA")), out);

%!test # without the MEX function one error, and no more words
%! folder = tempname ();
%! mkdir (folder);
%! unwind_protect
%!   help_file = file_in_loadpath ("DeviceArray_CUDA.m");
%!   copyfile (fullfile (fileparts (help_file), "@DeviceArray"), folder);
%!   copyfile (help_file, folder);
%!   [status, out] = run_octave ({
%!     "rmpath (fileparts (which ('DeviceArray_CUDA')));"
%!     ["addpath ('" folder "');"]
%!     "try, u = DeviceArray (1); catch err, disp (err.identifier); disp (err.message); end"
%!     "clear err"
%!     "disp ('done');"});
%!   assert (status == 0, "status %d: %s", status, out);
%!   lines = strsplit (strtrim (strrep (out, exit_noise (), "")), "\n");
%!   assert (lines{1}, "DeviceArray:notBuilt");
%!   assert (! isempty (strfind (lines{2}, "compile_mex")), out);
%!   assert (lines(3:end), {"done"});
%! unwind_protect_cleanup
%!   confirm_recursive_rmdir (false, "local");
%!   rmdir (folder, "s");
%! end_unwind_protect

%!test # a struct has it as a value, however it is made
%! s = struct ("a", DeviceArray (1:3), "b", 2);
%! assert (gather (s.a), 1:3);
%! assert (gather (setfield (s, "b", s.a).b), 1:3);
%! assert (gather (setfield (s, "c", "d", s.a).c.d), 1:3);
%! c = subsasgn ({1, 2}, struct ("type", "{}", "subs", {{2}}), s.a);
%! assert (gather (c{2}), 1:3);
