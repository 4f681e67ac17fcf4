## Every function of the host with a DeviceArray in the place of an ordinary array: the same answer, or an error that
## names gather, and neither a crash nor a hang. A process for some functions at a time, with a limit, in an empty
## folder.

## Names whose result differs from an ordinary array's, and the reason: they return the kind of a value; a value is no
## index; and ours is NaN if the host's result is complex.
%!function names = may_differ ()
%!  names = {"class", "typecast", "isobject", "methods", "which", "ismethod", "isstruct", "sizeof", "disp", "display", ...
%!           "isa", "func2str", "typeinfo", "inputParser", "validatestring", "nargchk", "nargoutchk", "hash", "ans", ...
%!           "isindex", "acos", "acosd", "asin", "asind", "atanh", "acoth", "asech"};
%!endfunction

%!testif ; ! is_small ()  # it is left to `make test-all`
%! names = host_functions ();
%! folder = tempname ();
%! [report, done] = deal ([folder "/report"], [folder "/done"]);
%! mkdir (folder);
%! mkdir ([folder "/empty"]);
%! trouble = {};
%! at = 1;
%! octave = getenv ("STENCIL_TEST_OCTAVE");
%! unwind_protect
%! setenv ("STENCIL_TEST_OCTAVE", ["timeout -k 5 120 " octave]);
%! while (at <= numel (names))
%!   last = min (at + 59, numel (names));
%!   listed = sprintf ("'%s' ", names{at:last});
%!   ## The host's own print_usage looks into its manual each time.
%!   [status, out] = run_octave ({"function print_usage (), error ('Octave:invalid-fun-call', 'Invalid call'); end", ...
%!                                sprintf("cd ('%s/empty');", folder), ...
%!                                sprintf("try_functions ({%s}, '%s', '%s');", listed, report, done)});
%!   lines = strsplit (strtrim (fileread (done)), "\n");
%!   if (strcmp (lines{end}, "@end"))
%!     at = last + 1;
%!   else
%!     ## The one that was under way ended the process.
%!     trouble{end+1} = sprintf ("%s: status %d", lines{end}, status);
%!     at = find (strcmp (names, lines{end})) + 1;
%!   endif
%! endwhile
%! unwind_protect_cleanup
%!   setenv ("STENCIL_TEST_OCTAVE", octave);
%! end_unwind_protect
%! found = {};
%! if (exist (report, "file"))
%!   found = strsplit (strtrim (fileread (report)), "\n");
%!   found = found(! ismember (strtok (found), may_differ ()));
%! endif
%! confirm_recursive_rmdir (false, "local");
%! rmdir (folder, "s");
%! assert (isempty (trouble), "ended Octave: %s", strjoin (trouble, ", "));
%! ## In words of their own: a function that has no method here.
%! unexplained = ! cellfun (@isempty, strfind (found, " unexplained: "));
%! printf ("%d functions refuse a DeviceArray in their own words: %s\n", numel (unique (strtok (found(unexplained)))), ...
%!         strjoin (unique (strtok (found(unexplained))), " "));
%! differ = found(! unexplained);
%! assert (isempty (differ), "%s", strjoin (differ, "\n"));
%! octaves = ! cellfun (@isempty, regexp (found, "wrong type argument|method failed|invalid data type specified"));
%! assert (! any (octaves), "Octave's own words for an unknown type: %s", strjoin (found(octaves), "\n"));
%! assert (numel (unique (strtok (found(unexplained)))) < 50, "more than there were: give them a method");
