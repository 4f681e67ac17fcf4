## ConstantMemoryDevice_CUDA: always an answer, with a GPU or without.

%!test # the fields, on any machine
%! d = ConstantMemoryDevice_CUDA ();
%! assert (isstruct (d) && isscalar (d));
%! wanted = {"Name", "Index", "ComputeCapability", "DriverVersion", "TotalMemory", ...
%!           "AvailableMemory", "MultiprocessorCount", "ConstantMemory", "DeviceCount", ...
%!           "Backend", "BackendReason", "SIMD", "Threads", "Outputs", "Version", "Build"};
%! missing = wanted(! isfield (d, wanted));
%! assert (isempty (missing), "missing: %s", strjoin (missing, ", "));
%! for name = {"Name", "ComputeCapability", "Backend", "BackendReason", "SIMD", "Outputs", "Version", "Build"}
%!   assert (ischar (d.(name{1})), "%s is a %s", name{1}, class (d.(name{1})));
%! endfor
%! for name = {"Index", "TotalMemory", "AvailableMemory", "MultiprocessorCount", ...
%!             "ConstantMemory", "DeviceCount", "Threads"}
%!   assert (isa (d.(name{1}), "double"), "%s is a %s", name{1}, class (d.(name{1})));
%! endfor
%! ## No number is complex and nothing nests: this is a table to print.
%! assert (! any (structfun (@(v) iscell (v) || isstruct (v), d)));

%!test # what does not depend on a GPU
%! d = ConstantMemoryDevice_CUDA ();
%! assert (any (strcmp (d.Backend, {"cuda", "cpu"})));
%! assert (! isempty (d.BackendReason));
%! assert (! isempty (d.SIMD));
%! assert (any (strcmp (d.Outputs, {"lent", "copied", "direct"})));
%! assert ([d.Rank, d.Ranks], [0 1]);
%! assert (d.Threads >= 1 && d.Threads == fix (d.Threads));
%! assert (! isempty (regexp (d.Version, '^\d+\.\d+\.\d+', "once")), "Version is <%s>", d.Version);
%! assert (! isempty (d.Build));
%! assert (d.DeviceCount >= 0 && d.DeviceCount == fix (d.DeviceCount));
%! if (strcmp (d.Backend, "cuda"))
%!   assert (d.DeviceCount > 0);
%! endif

%!test # the same fields in the same order each time, and at the prompt too
%! names = fieldnames (ConstantMemoryDevice_CUDA ());
%! ConstantMemoryDevice_CUDA ();
%! assert (fieldnames (ans), names);
%! StencilConstantMemory_CUDA (1:3, 1);
%! assert (fieldnames (ConstantMemoryDevice_CUDA ()), names);

%!test # no device: an answer all the same, and no warning
%! [status, out] = run_octave ({
%!   "warning ('error', 'StencilConstantMemory:noDevice');"
%!   "d = ConstantMemoryDevice_CUDA ();"
%!   "printf ('<%s> <%d> <%d>\\n', d.Backend, d.DeviceCount, isempty (d.BackendReason));"
%!   "printf ('%d fields\\n', numel (fieldnames (d)));"
%!   "assert (! warned ());"
%!   }, {"STENCIL_BACKEND=auto", "CUDA_VISIBLE_DEVICES=-1"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "<cpu> <0> <0>")), out);
%! count = numel (fieldnames (ConstantMemoryDevice_CUDA ()));
%! assert (! isempty (strfind (out, sprintf ("%d fields", count))), out);

%!test # not even where CUDA was asked for and cannot be had
%! [status, out] = run_octave ("d = ConstantMemoryDevice_CUDA (); disp (['<' d.Backend '>']);", ...
%!                             {"STENCIL_BACKEND=cuda", "CUDA_VISIBLE_DEVICES=-1"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (regexp (out, '<(cpu|cuda)>', "once")), out);

%!testif ; has_gpu ()  # needs a GPU
%! d = ConstantMemoryDevice_CUDA ();
%! assert (! isempty (d.Name));
%! assert (d.Index >= 1 && d.Index <= d.DeviceCount);
%! assert (! isempty (regexp (d.ComputeCapability, '^\d+\.\d+$', "once")));
%! assert (str2double (d.ComputeCapability) >= 6);
%! assert (! isempty (d.DriverVersion));
%! assert (d.TotalMemory > 1e9);
%! assert (d.AvailableMemory > 0 && d.AvailableMemory <= d.TotalMemory);
%! assert (d.MultiprocessorCount >= 1);
%! assert (d.ConstantMemory, 65536);

%!test # a real and an auto choice agree with what the stencil then does
%! [status, out] = run_octave ({
%!   "d = ConstantMemoryDevice_CUDA ();"
%!   "usable = true;"
%!   "try, StencilConstantMemory_CUDA (1, 1, 'Backend', 'cuda'); catch, usable = false; end"
%!   "assert (strcmp (d.Backend, 'cuda'), usable);"
%!   "disp ('agreed');"}, {"STENCIL_BACKEND=auto"});
%! assert (status == 0, "status %d: %s", status, out);
%! assert (! isempty (strfind (out, "agreed")), out);

## --- Errors --------------------------------------------------------------------

%!error id=ConstantMemoryDevice:numberOfInputs ConstantMemoryDevice_CUDA (1)
%!error id=ConstantMemoryDevice:numberOfOutputs [a, b] = ConstantMemoryDevice_CUDA ();
%!error <Number of Inputs are Wrong> ConstantMemoryDevice_CUDA (1)
%!error <Number of Outputs are Wrong> [a, b] = ConstantMemoryDevice_CUDA ();

%!test
%! f = "ConstantMemoryDevice_CUDA";
%! fails (f, "numberOfInputs", {1});
%! fails (f, "numberOfInputs", {[]});
%! fails (f, "numberOfInputs", {"Device", 1});
%! fails (f, "numberOfInputs", {1}, 0);
%! fails (f, "numberOfInputs", {1}, 2);
%! fails (f, "numberOfOutputs", {}, 2);
%! fails (f, "numberOfOutputs", {}, 3);
%! assert (isstruct (ConstantMemoryDevice_CUDA ()));
