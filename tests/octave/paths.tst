## The folder matlab/ puts folders onto Octave's path, and takes them away with itself (PKG_ADD, PKG_DEL).

%!shared folder
%! folder = fileparts (file_in_loadpath ("DeviceArray_CUDA.m"));

%!function place = played (serves)
%!  ## A folder whose DeviceArray_CUDA says if there is a type of Octave's own, and names what it is asked to make.
%!  from = fileparts (file_in_loadpath ("DeviceArray_CUDA.m"));
%!  place = tempname ();
%!  mkdir (place);
%!  for name = {"PKG_ADD", "PKG_DEL", "@DeviceArray"}
%!    copyfile (fullfile (from, name{1}), place);
%!  endfor
%!  fclose (fopen (fullfile (place, ["libstencil_object-" OCTAVE_VERSION ".so"]), "w"));
%!  fid = fopen (fullfile (place, "DeviceArray_CUDA.m"), "w");
%!  fprintf (fid, "function out = DeviceArray_CUDA (verb, varargin)\n");
%!  fprintf (fid, "  if (strcmp (verb, 'native')), out = %s; else, out = {verb, varargin{:}}; end\nend\n", serves);
%!  fclose (fid);
%!endfunction
%!
%!function [status, out] = fresh (lines, place)
%!  ## A session without the folder of this one.
%!  from = fileparts (file_in_loadpath ("DeviceArray_CUDA.m"));
%!  first = {sprintf("rmpath ('%s'); before = path (); names = who ();", from); sprintf("place = '%s';", place)};
%!  [status, out] = run_octave ([first; lines(:)]);
%!  out = strtrim (strrep (out, exit_noise (), ""));
%!endfunction
%!
%!function rmdir_all (folder)
%!  confirm_recursive_rmdir (false, "local");
%!  rmdir (folder, "s");
%!endfunction

%!test # added twice, at either end, by genpath, and removed: nothing is left, and no variable comes
%! lines = {"for end_ = {'-begin', '-end'}"; ...
%!          "  addpath (place, end_{1}); addpath (place, end_{1}); path (path ());"; ...
%!          "  assert (numel (strfind (path (), [place pathsep()])), 1);"; ...
%!          "  assert (numel (strfind (path (), fullfile ('octave', 'last'))), 1);"; ...
%!          "  rmpath (place); assert (path (), before);"; ...
%!          "end"; ...
%!          "addpath (genpath (place)); rmpath (genpath (place)); assert (path (), before);"; ...
%!          "assert (setdiff (who (), names), {'end_'; 'names'; 'place'});"; ...
%!          "disp ('done');"};
%! [status, out] = fresh (lines, folder);
%! assert (status == 0 && strcmp (out, "done"), "%s", out);
%! for serves = {"true", "false", "error ('no')"}
%!   place = played (serves{1});
%!   cleaner = onCleanup (@() rmdir_all (place));
%!   [status, out] = fresh (lines, place);
%!   assert (status == 0 && strcmp (out, "done"), "%s: %s", serves{1}, out);
%!   clear cleaner
%! endfor

%!test # the function that makes the type of Octave's own comes first where there is such a type
%! place = played ("true");
%! cleaner = onCleanup (@() rmdir_all (place));
%! native = fullfile (place, "@DeviceArray", "octave", "native");
%! lines = {"addpath (place); assert (DeviceArray (5), {'make', 5});"; ...
%!          "addpath (place, '-end'); assert (DeviceArray (1, 'Backend', 'cpu'), {'make', 1, 'Backend', 'cpu'});"; ...
%!          "assert (DeviceArray (), {'statics'});"; ...
%!          sprintf("assert (strncmp (which ('DeviceArray'), '%s', %d));", native, numel (native)); ...
%!          "disp ('done');"};
%! [status, out] = fresh (lines, place);
%! assert (status == 0 && strcmp (out, "done"), "%s", out);

%!test # a path that was saved has it no more where there is none
%! place = played ("false");
%! cleaner = onCleanup (@() rmdir_all (place));
%! lines = {"addpath (fullfile (place, '@DeviceArray', 'octave', 'native'));"; ...
%!          "addpath (place); assert (isempty (strfind (path (), 'native')));"; ...
%!          "rmpath (place); assert (path (), before); disp ('done');"};
%! [status, out] = fresh (lines, place);
%! assert (status == 0 && strcmp (out, "done"), "%s", out);

%!test # gather of ordinary values, where no other function has the name
%! assert (gather ([1 2 3]), [1 2 3]);
%! assert (gather ("text"), "text");
%! [a, b] = gather ({1}, single (2));
%! assert ({a, b}, {{1}, single(2)});
%! [a, b, c] = gather (DeviceArray ([1 2]), 3, DeviceArray (single (4)));
%! assert ({a, b, c}, {[1 2], 3, single(4)});
%! assert (gather (1, DeviceArray (2)), 1);
%! fail ("gather ()", "gather needs an array");
%! fail ("[a, b] = gather (1)", "gather needs an array");
%! fail ("[a, b] = gather (DeviceArray (1))", "gather needs an array");
%! other = tempname ();
%! mkdir (other);
%! cleaner = onCleanup (@() rmdir_all (other));
%! fid = fopen (fullfile (other, "gather.m"), "w");
%! fprintf (fid, "function x = gather (x)\n  x = 'another';\nend\n");
%! fclose (fid);
%! lines = {sprintf("addpath ('%s', '-end'); addpath (place);", other); "assert (gather (1), 'another');"; ...
%!          "assert (gather (DeviceArray (1)), 1); disp ('done');"};
%! [status, out] = fresh (lines, folder);
%! assert (status == 0 && strcmp (out, "done"), "%s", out);

%!test # in that folder Octave finds the class before all else: its objects go with the values of Octave's own type
%! work = {"u = DeviceArray (magic (3), 'Backend', 'cpu'); v = u + 1; w = DeviceArray.zeros (3, 'Backend', 'cpu');"; ...
%!         "u(1,:) = v(2,:); v(2,:) = u(1,:); c = {u}; w(2) = u(2);"; ...
%!         "assert (gather ([u; v .* c{1}; w]), [4 6 8; 3 5 7; 4 9 2; 36 12 56; 12 30 56; 20 90 6; 0 0 0; 3 0 0; 0 0 0]);"; ...
%!         "assert (sum (u(:)) > 0 && any (any (u < v)));"; ...
%!         "[a, run] = DeviceArray.iterate (@(x) x + StencilConstantMemory_CUDA (x, [1 2 1]), 3, u);"; ...
%!         "b = u; for k = 1:3, b = b + StencilConstantMemory_CUDA (b, [1 2 1]); end, assert (gather (a), gather (b));"; ...
%!         "clear u v w c a b run; assert (DeviceArray_CUDA ('count'), 0);"};
%! orders = {{"cd (place);"}, {"addpath (place);"; "cd (place);"}, {"cd (place);"; "addpath (place);"}, ...
%!           {"addpath (place);"; work{1}; "cd (place);"}, {"cd (place);"; work{1}; "addpath (place); cd ('/');"}};
%! for order = orders
%!   [status, out] = fresh ([order{1}; work; {"disp ('done');"}], folder);
%!   assert (status == 0 && strcmp (out, "done"), "%s %s", strjoin (order{1}', " "), out);
%! endfor
