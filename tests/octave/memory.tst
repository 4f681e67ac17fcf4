## Memory that runs out at any moment: an error of ours or of the host's, or the right result, and the session goes on.
## (tests/system/memory.rs walks the limit in smaller steps, without a host.)

%!function check_walk (steps, settings)
%!  [status, out] = run_octave (sprintf ("memory_walk ([%s]);", sprintf ("%g ", steps)), settings);
%!  assert (status == 0, "%s", out);
%!  assert (isempty (strfind (out, "memory allocation of")), "%s", out);
%!  counts = str2double (regexp (out, 'right (\d+) ours (\d+) host (\d+)', "tokens", "once"));
%!  assert (numel (counts) == 3, "%s", out);
%!  ## Else the limit was not where anything was decided.
%!  assert (all (counts > 0), "%s", out);
%!endfunction

%!testif ; ! isnan (resident ("VmSize")) && system ("prlimit --version >/dev/null 2>&1") == 0  # needs /proc and prlimit
%! ## One heap, whose large blocks come from the system and return there immediately: every array counts against the
%! ## limit.
%! check_walk ({[0.25:0.05:0.5, 1:27], [0.25, 0.4, 1:2:27]}{1 + is_small ()}, {"CUDA_VISIBLE_DEVICES=", "MALLOC_ARENA_MAX=1", ...
%!                                     "MALLOC_MMAP_THRESHOLD_=65536", "MALLOC_TRIM_THRESHOLD_=65536"});

%!testif ; ! isnan (resident ("VmSize")) && system ("prlimit --version >/dev/null 2>&1") == 0  # needs /proc and prlimit
%! ## The first call of a process that has little left: it loads the library, finds the host, starts threads.
%! outcomes = "";
%! for mib = {[1, 3, 5:0.5:8.5, 9:16, 24, 32], [1, 3, 5:9, 12, 16, 24, 32]}{1 + is_small ()}
%!   [status, out] = run_octave ({
%!     "x = reshape (mod (1:1e6, 1009), 1000, 1000);"
%!     ## Octave 11 keeps memory that it has freed: it is used up first.
%!     "address_limit (0); held = {};"
%!     "try, while (true), held{end+1} = ones (128, 1024); end, end_try_catch"
%!     "address_limit (Inf);"
%!     sprintf("address_limit (%g);", mib)
%!     "try"
%!     "  y = ConvolutionConstantMemory_CUDA (x, single (ones (3)), 'Backend', 'cpu');"
%!     "  printf ('<%d>', isequal (double (y(1:2,1)), [x(1) + x(2) + x(1001) + x(1002); sum(x([1:3, 1001:1003]))]));"
%!     "catch err"
%!     "  known = regexp (err.message, 'ut of memory|failed to allocate|failed to load', 'once');"
%!     "  if (isempty (known)), disp (err.message); else, printf ('<error>'); end"
%!     "end"
%!     "address_limit (Inf);"
%!     "assert (StencilConstantMemory_CUDA (1:4, [1 2 3], 'Backend', 'cpu'), [8 14 20 11]);"
%!     "disp ('<alive>');"});
%!   assert (status == 0, "%g MiB: %s", mib, out);
%!   assert (! isempty (regexp (out, '<(1|error)><alive>', "once")), "%g MiB: %s", mib, out);
%!   outcomes = [outcomes, out];
%! endfor
%! assert (! isempty (strfind (outcomes, "<1>")) && ! isempty (strfind (outcomes, "<error>")), "%s", outcomes);

%!test # an array of more dimensions than an error can tell
%! x = zeros ([ones(1, 1e5), 2]);
%! y = ConvolutionConstantMemory_CUDA (x, ones (1, 1, 3), "Backend", "cpu");
%! assert (size (y), size (x));
%! try
%!   ConvolutionConstantMemory_CUDA (1, x, "Backend", "cpu");
%!   error ("no error");
%! catch err
%!   assert (err.identifier, "ConvolutionConstantMemory:filterShape");
%!   assert (! isempty (strfind (err.message, "(100001 dimensions) double; expected")), "%s", err.message);
%! end_try_catch
%! y = StencilConstantMemory_CUDA (x, [1 2 3], "Backend", "cpu");
%! assert (size (y), size (x));
