## One library in a folder, however it was copied: each MEX file opens the library in its folder.

%!function folder = copy_of (what = ".")
%!  ## A folder with a copy of that, links followed.
%!  folder = tempname ();
%!  mkdir (folder);
%!  [status, out] = system (sprintf ("cd '%s' && cp -rL %s '%s'", home (), what, folder));
%!  assert (status == 0, "%s", out);
%!endfunction
%!
%!function folder = home ()
%!  folder = fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"));
%!endfunction
%!
%!function remove (varargin)
%!  confirm_recursive_rmdir (false, "local");
%!  cellfun (@(folder) rmdir (folder, "s"), varargin);
%!endfunction
%!
%!function says (folder, code, expected)
%!  ## Runs code in a process that has no other folder of ours on its path; the code prints lines in <>.
%!  file = fullfile (folder, "code.m");
%!  fid = fopen (file, "w");
%!  fprintf (fid, "%s\n", code{:});
%!  fclose (fid);
%!  [status, out] = system (sprintf ("%s --norc --quiet --path '%s' '%s' 2>&1", getenv ("STENCIL_TEST_OCTAVE"), ...
%!                                   folder, file));
%!  assert (status == 0, "status %d: %s", status, out);
%!  said = regexp (out, '<([^<>]*)>', "tokens");
%!  assert (isequal ([said{:}], expected), "%s", out);
%!endfunction

%!test # an array that one function makes, another takes
%! folder = copy_of ();
%! unwind_protect
%!   code = {
%!     "u = DeviceArray (1:4);"
%!     "v = StencilConstantMemory_CUDA (u, [1 2 3]);"
%!     "printf ('<%s> <%s>', class (v), mat2str (gather (v)));"
%!     "u = ConvolutionConstantMemory_CUDA (v, 2);"
%!     "printf ('<%s> <%d>', mat2str (gather (u)), DeviceArray_CUDA ('count'));"};
%!   expected = {"DeviceArray", "[8 14 20 11]", "[16 28 40 22]", "2"};
%!   says (folder, code, expected);
%!   ## As objects of the class, too.
%!   delete (fullfile (folder, "libstencil_object-*.so"));
%!   says (folder, code, expected);
%! unwind_protect_cleanup
%!   remove (folder);
%! end_unwind_protect

%!test # every function is called by its own name
%! folder = copy_of ();
%! unwind_protect
%!   [~, names] = system (["'" fullfile(folder, "build-mex") "' --list"]);
%!   names = strsplit (strtrim (names), "\n");
%!   code = sprintf ("try, %s ({}, {}, {}); catch err, printf ('<%%s>', err.identifier); end\n", names{:});
%!   expected = strcat (strrep (names, "_CUDA", ""), ":");
%!   [status, out] = system (sprintf ("%s --norc --quiet --path '%s' --eval \"%s\" 2>&1", ...
%!                                    getenv ("STENCIL_TEST_OCTAVE"), folder, code));
%!   said = [regexp(out, '<(\w+:)', "tokens"){:}];
%!   assert (isequal (said, expected), "status %d: %s", status, out);
%! unwind_protect_cleanup
%!   remove (folder);
%! end_unwind_protect

%!test # without the library an error says what is missing, and with it the call works
%! folder = copy_of ("*.mex");
%! unwind_protect
%!   library = fullfile (folder, "libstencil_mex.so");
%!   call = ["try, printf ('<%s>', mat2str (StencilConstantMemory_CUDA (1:4, [1 2 3])));" ...
%!           "catch err, printf ('<%s> <%d>', err.identifier, ! isempty (strfind (err.message, '" library "'))); end"];
%!   says (folder, {call
%!                  "try, DeviceArray_CUDA ('count'); catch err, printf ('<%s>', err.identifier); end"
%!                  ["fclose (fopen ('" library "', 'w'));"]
%!                  call
%!                  ["copyfile ('" fullfile(home (), "libstencil_mex.so") "', '" library "');"]
%!                  call},
%!         {"StencilConstantMemory:notBuilt", "1", "DeviceArray:notBuilt", "StencilConstantMemory:notBuilt", "1", ...
%!          "[8 14 20 11]"});
%! unwind_protect_cleanup
%!   remove (folder);
%! end_unwind_protect

%!test # two folders in a session have a library each, and arrays of one are no arrays of the other
%! [first, second] = deal (copy_of (), copy_of ());
%! unwind_protect
%!   code = {
%!     "u = DeviceArray (1:3);"
%!     "count = @DeviceArray_CUDA;   # of the first, also later"
%!     "count ('count');"
%!     ["addpath ('" second "');"]
%!     ["printf ('<%d>', strcmp (fileparts (which ('DeviceArray_CUDA')), '" second "'));"]
%!     "printf ('<%d %d>', count ('count'), DeviceArray_CUDA ('count'));"
%!     "v = DeviceArray (1:4); w = DeviceArray (4:7);"
%!     "printf ('<%d %d>', count ('count'), DeviceArray_CUDA ('count'));"
%!     "try, StencilConstantMemory_CUDA (u, [1 2 3]); catch err, printf ('<refused>'); end"
%!     "printf ('<%s>', mat2str (gather (StencilConstantMemory_CUDA (v, [1 2 3]))));"
%!     "clear v w"
%!     "printf ('<%d %d>', count ('count'), DeviceArray_CUDA ('count'));"
%!     ["rmpath ('" second "');"]
%!     "printf ('<%s> <%d>', mat2str (gather (u + 1)), DeviceArray_CUDA ('count'));"};
%!   expected = {"1", "1 0", "1 2", "refused", "[8 14 20 11]", "1 0", "[2 3 4]", "1"};
%!   says (first, code, expected);
%!   for folder = {first, second}
%!     delete (fullfile (folder{1}, "libstencil_object-*.so"));
%!   endfor
%!   says (first, code, expected);
%! unwind_protect_cleanup
%!   remove (first, second);
%! end_unwind_protect

%!test # a function that is cleared inside a call of it ends that call, and is loaded again for the next
%! folder = copy_of ();
%! unwind_protect
%!   ## DeviceArray_CUDA asks for the version.
%!   fid = fopen (fullfile (folder, "OCTAVE_VERSION.m"), "w");
%!   fprintf (fid, "%s\n", "function text = OCTAVE_VERSION ()", "  text = '0';", ...
%!            "  clear DeviceArray_CUDA", "  setenv ('CLEARED', '1');", "end");
%!   fclose (fid);
%!   delete (fullfile (folder, "libstencil_object-*.so"));
%!   says (folder, {"printf ('<%s> <%d> <%s>', getenv ('CLEARED'), DeviceArray_CUDA ('native'), getenv ('CLEARED'));"
%!                  "u = DeviceArray (1:3); printf ('<%s>', mat2str (gather (StencilConstantMemory_CUDA (u, 2))));"}, ...
%!         {"", "0", "1", "[2 4 6]"});
%! unwind_protect_cleanup
%!   remove (folder);
%! end_unwind_protect
