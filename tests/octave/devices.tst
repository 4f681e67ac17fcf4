## 'Device', [1 2] and 'all': an array of the host's over several GPUs, with the bits of one.

%!testif ; on_stand_in ()  # needs the stand-in for the driver
%! code = {
%!   "x = sin ((1:200000)' / 7); k = [1 -2 3 1 -0.5] / 6; X = reshape (sin (1:60*50), 60, 50); F = reshape (1:9, 3, 3) / 60;"
%!   "S = @StencilConstantMemory_CUDA; C = @ConvolutionConstantMemory_CUDA; bad = 0;"
%!   "for d = {[1 2], 'all', 'ALL', [3; 1], [2 1 3]}"
%!   "  for b = {0, 'circular', {1, 'mirror'}}"
%!   "    o = {'Boundary', b{1}};"
%!   "    bad += ! isequal (S (x, k, o{:}, 'Device', d{1}), S (x, k, o{:}, 'Backend', 'cpu'));"
%!   "    bad += ! isequal (S (x(1:5000), k, o{:}, 'Iterations', 30, 'Device', d{1}), S (x(1:5000), k, o{:}, 'Iterations', 30, 'Backend', 'cpu'));"
%!   "  end"
%!   "  bad += ! isequal (C (X, F, 'Iterations', 9, 'Device', d{1}), C (X, F, 'Iterations', 9, 'Backend', 'cpu'));"
%!   "  bad += ! isequal (C (single (X), F, 'Shape', 'full', 'Device', d{1}), C (single (X), F, 'Shape', 'full', 'Backend', 'cpu'));"
%!   "  bad += ! isequal (C (uint8 (99 * abs (X)), F, 'Iterations', 2, 'Device', d{1}), C (uint8 (99 * abs (X)), F, 'Iterations', 2, 'Backend', 'cpu'));"
%!   "  bad += ! isequal (S (X, {k, k}, 'Dim', [1 2], 'Iterations', 3, 'Device', d{1}), S (X, {k, k}, 'Dim', [1 2], 'Iterations', 3, 'Backend', 'cpu'));"
%!   "  bad += ! isequal (S (X, k, 'Previous', X, 'Weight', -0.5, 'Iterations', 3, 'Device', d{1}), S (X, k, 'Previous', X, 'Weight', -0.5, 'Iterations', 3, 'Backend', 'cpu'));"
%!   "  bad += ! isequal (DerivativeConstantMemory_CUDA (X, 1, 'Device', d{1}), DerivativeConstantMemory_CUDA (X, 1, 'Backend', 'cpu'));"
%!   "end"
%!   "printf ('<%d bad>\\n', bad);"
%!   "u = DeviceArray (X, 'Device', 2); v = DeviceArray (u, 'Device', 3); w = DeviceArray (v, 'Device', 3);"
%!   "printf ('<%d %d %d %d>\\n', device (u), device (v), device (w), isequal (gather (w), X));"
%!   "clear u; printf ('<%d>\\n', isequal (gather (v), X));"};
%! [status, out] = run_octave (code, {"CUDA_STAND_IN_DEVICES=3", "STENCIL_BACKEND=cuda"});
%! assert (status == 0, "%s", out);
%! assert (! isempty (strfind (out, "<0 bad>\n<2 3 3 1>\n<1>\n")), "%s", out);

%!testif ; on_stand_in ()  # needs the stand-in for the driver
%! ## A device that cannot be used is an error, and never a silent fewer; and the default is one that is named.
%! code = {
%!   "x = (1:30)'; k = [1 2 1]; S = @(varargin) StencilConstantMemory_CUDA (x, k, varargin{:});"
%!   "u = DeviceArray (x);"
%!   "for c = {@() S('Device', [1 3]), @() S('Device', [1 1]), @() S('Device', [1 2.5]), @() S('Device', 'both'), @() S('Device', {1, 2}), ..."
%!   "         @() S('Device', [1 2], 'Backend', 'fastest'), @() StencilConstantMemory_CUDA(u, k, 'Device', [1 2]), ..."
%!   "         @() DeviceArray(x, 'Device', [1 2]), @() DeviceArray(x, 'Device', 'all'), @() DeviceArray(u, 'Device', 3), ..."
%!   "         @() S('Device', [1 2], 'Backend', 'cpu')}"
%!   "  try, c{1} (); disp ('none'); catch e, disp (strrep (e.identifier, 'StencilConstantMemory', 'S')); end"
%!   "end"
%!   "printf ('<%d>\\n', device (u));"
%!   "setenv ('STENCIL_DEVICE', '1'); printf ('<%d>\\n', device (DeviceArray (x)));"
%!   "setenv ('STENCIL_DEVICE', '7'); try, S (); catch e, disp (e.identifier); end"
%!   "setenv ('STENCIL_DEVICE', 'one'); try, S (); catch e, disp (e.identifier); end"};
%! [status, out] = run_octave (code, {"CUDA_STAND_IN_DEVICES=2", "STENCIL_BACKEND=auto", "STENCIL_DEVICE=2"});
%! assert (status == 0, "%s", out);
%! expected = {"S:noDevice", "S:option", "S:option", "S:option", "S:option", "S:option", "S:option", "DeviceArray:option", ...
%!             "DeviceArray:option", "DeviceArray:noDevice", "none", "<2>", "<1>", "StencilConstantMemory:noDevice", ...
%!             "StencilConstantMemory:option"};
%! assert (isequal (strsplit (strtrim (out), "\n")(1:numel (expected)), expected), "%s", out);

%!testif ; on_stand_in ()  # needs the stand-in for the driver
%! ## A timeline of a call, which takes less on two devices. tests/system/devices.rs checks its contents.
%! file = [tempname() ".json"];
%! code = {
%!   "X = reshape (sin (1:200*3000), 200, 3000);"
%!   "y = ConvolutionConstantMemory_CUDA (X, ones (9) / 81, 'Iterations', 8, 'Device', [1 2]);"
%!   "printf ('<%d>\\n', isequal (y, ConvolutionConstantMemory_CUDA (X, ones (9) / 81, 'Iterations', 8, 'Backend', 'cpu')));"};
%! [status, out] = run_octave (code, {"CUDA_STAND_IN_DEVICES=2", "STENCIL_BACKEND=cuda", ["STENCIL_TIMELINE=" file]});
%! assert (status == 0 && ! isempty (strfind (out, "<1>")), "%s", out);
%! events = jsondecode (fileread (file)).traceEvents;
%! delete (file);
%! spans = [events(cellfun (@(e) strcmp (e.ph, "X"), events)){:}];
%! assert (unique ([spans([spans.tid] == 0).pid]), [0 1]);
