## 'Distributed': the arrays of all ranks that mpirun started are one array, with the bits of a single process; and an
## error on one rank ends the call on all.

%!testif ; has_ranks ()  # needs Open MPI
%! code = {
%!   "x = sin ((1:1000)' / 7) + (1:1000)' / 300; k = [1 -2 3 1 -0.5] / 6; bad = 0; n = 0;"
%!   "X = reshape (sin (1:60*50), 60, 50); F = reshape (1:9, 3, 3) / 60; V = reshape (sin (1:7*8*30), 7, 8, 30);"
%!   "for b = {0, 'replicate', 'circular', 'mirror', {1, 'symmetric'}}"
%!   "  for m = [0 1 7 200]"
%!   "    o = {'Boundary', b{1}, 'Iterations', m};"
%!   "    y = StencilConstantMemory_CUDA (x, k, o{:});"
%!   "    z = StencilConstantMemory_CUDA (x(mine (1000)), k, o{:}, 'Distributed', true);"
%!   "    bad += ! isequaln (z, y(mine (1000))); n++;"
%!   "  end"
%!   "end"
%!   "for b = {0, 'circular', {'mirror', {2, 'replicate'}}}"
%!   "  o = {'Boundary', b{1}, 'Iterations', 9};"
%!   "  y = ConvolutionConstantMemory_CUDA (X, F, o{:});"
%!   "  z = ConvolutionConstantMemory_CUDA (X(:,mine (50)), F, o{:}, 'Distributed', true);"
%!   "  bad += ! isequaln (z, y(:,mine (50))); n++;"
%!   "  z = ConvolutionConstantMemory_CUDA (single (X(mine (60),:)), F, o{:}, 'Distributed', 1);"
%!   "  y = ConvolutionConstantMemory_CUDA (single (X), F, o{:});"
%!   "  bad += ! isequaln (z, y(mine (60),:)); n++;"
%!   "  u = DeviceArray (X(:,mine (50)));"
%!   "  v = ConvolutionConstantMemory_CUDA (u, F, o{:}, 'Distributed', 2);"
%!   "  y = ConvolutionConstantMemory_CUDA (X, F, o{:});"
%!   "  bad += ! isa (v, 'DeviceArray') || ! isequaln (gather (v), y(:,mine (50))); n++;"
%!   "end"
%!   "y = ConvolutionConstantMemory_CUDA (V, ones (3, 3, 3) / 27, 'Iterations', 4);"
%!   "z = ConvolutionConstantMemory_CUDA (V(:,:,mine (30)), ones (3, 3, 3) / 27, 'Iterations', 4, 'Distributed', true);"
%!   "bad += ! isequaln (z, y(:,:,mine (30))); n++;"
%!   "y = DerivativeConstantMemory_CUDA (X, 0.1, 'Dim', 2, 'Boundary', 'circular');"
%!   "z = DerivativeConstantMemory_CUDA (X(:,mine (50)), 0.1, 'Dim', 2, 'Boundary', 'circular', 'Distributed', 2);"
%!   "bad += ! isequaln (z, y(:,mine (50))); n++;"
%!   "y = StencilConstantMemory_CUDA (X, k, 'Dim', 1); z = StencilConstantMemory_CUDA (X(:,mine (50)), k, 'Dim', 1, 'Distributed', true);"
%!   "bad += ! isequaln (z, y(:,mine (50))); n++;"
%!   "% Filters of any length and class"
%!   "for q = {[1 1] / 2, sin(1:30) / 30, single(k), single([1 2 3 4]) / 10}"
%!   "  for d = 1:2"
%!   "    o = {'Dim', d, 'Iterations', 3, 'Boundary', {'circular', {1, 'mirror'}}{d}};"
%!   "    y = StencilConstantMemory_CUDA (X, q{1}, o{:}); z = StencilConstantMemory_CUDA (X(:,mine (50)), q{1}, o{:}, 'Distributed', true);"
%!   "    bad += ! isequaln (z, y(:,mine (50))) || ! strcmp (class (z), class (y)); n++;"
%!   "  end"
%!   "  y = StencilConstantMemory_CUDA (x, q{1}); z = StencilConstantMemory_CUDA (x(mine (1000)), q{1}, 'Distributed', true);"
%!   "  bad += ! isequaln (z, y(mine (1000))); n++;"
%!   "end"
%!   "for G = {ones(2) / 4, ones(4, 17) / 68, ones(1, 24) / 24}"
%!   "  y = ConvolutionConstantMemory_CUDA (X, G{1}, 'mirror', 'Iterations', 2);"
%!   "  z = ConvolutionConstantMemory_CUDA (X(:,mine (50)), G{1}, 'mirror', 'Iterations', 2, 'Distributed', true);"
%!   "  bad += ! isequaln (z, y(:,mine (50))); n++;"
%!   "end"
%!   "% Parts that are empty, or have one element"
%!   "some = [1:3]' + 10; part = some([1:3] == rank + 1); if (rank == ranks - 1), part = [part; some([1:3] > ranks)]; end"
%!   "whole = StencilConstantMemory_CUDA (some, ones (1, 7), 'Boundary', 'circular');"
%!   "z = StencilConstantMemory_CUDA (part, ones (1, 7), 'Boundary', 'circular', 'Distributed', 1);"
%!   "bad += ! isequaln (z, whole(ismember (some, part))); n++;"
%!   "d = ConstantMemoryDevice_CUDA (); bad += d.Rank != rank || d.Ranks != ranks; n++;"
%!   "say (sprintf ('%d bad of %d', bad, n));"};
%! for count = {[1 2 3 5], [1 3]}{1 + is_small ()}
%!   [status, out] = run_ranks (count, code);
%!   assert (status == 0, "%s", out);
%!   assert (numel (strfind (out, "<0 bad of 49>")) == count, "%d ranks: %s", count, out);
%! endfor

%!testif ; has_ranks ()  # needs Open MPI
%! ## A fault on one rank is an error on all, and the next call is right.
%! code = {
%!   "x = (1:30)'; k = [1 2 1]; part = x(mine (30)); one = (rank == 1);"
%!   "S = @(varargin) StencilConstantMemory_CUDA (varargin{:}, 'Distributed', true);"
%!   "C = @(varargin) ConvolutionConstantMemory_CUDA (varargin{:}, 'Distributed', true);"
%!   "calls = {@() S(part, k(1:3 - 3 * one)), @() S(part), @() S(part, k, 'Iterations', 1 + one), @() S(part, k + one), ..."
%!   "         @() S(part, k, 'Shape', 'full'), @() S(part, {k, k}, 'Dim', [1 1]), @() S(part, k, 'Device', [1 2]), ..."
%!   "         @() S(part, k, 'Backend', 'fastest'), @() C(uint8 (part), 1), @() S(part, k, 'Every', 1), ..."
%!   "         @() StencilConstantMemory_CUDA(part, k, 'Distributed', 1.5), @() C(ones (4 + one, 2), ones (3)), ..."
%!   "         @() StencilConstantMemory_CUDA(part, k, 'Distributed', 1 + one), @() S(int8 (part), k), ..."
%!   "         @() StencilConstantMemory_CUDA(part, k, 'Distributed', 2 ^ 32 - 1), ..."
%!   "         @() ConvolutionConstantMemory_CUDA(part, 1, 'Distributed', 4), ..."
%!   "         @() S(part, k, 'Distributed', 0), @() S(part * 1i, k), @() C(part * 1i, k), @() S(part, k(1:3 - one)), ..."
%!   "         @() S(part, ones (1, 30 + one)), @() C(part, ones (2 + one)), @() S(part, single (k)), ..."
%!   "         @() StencilConstantMemory_CUDA(part, [1 1], 'Distributed', 4), @() S(ones (2, 2, 2, 2), single (k)), ..."
%!   "         @() S(part, [1 1], 'Dim', 4), ..."
%!   "         @() StencilConstantMemory_CUDA(part, k, 'Distributed', true, 'Dis', false)};"
%!   "ids = cell (size (calls));"
%!   "for i = 1:numel (calls)"
%!   "  try, calls{i} (); ids{i} = 'none'; catch e, ids{i} = strrep (e.identifier, 'ConstantMemory', ''); texts{i} = e.message; end"
%!   "end"
%!   "y = StencilConstantMemory_CUDA (x, k); right = isequal (S(part, k), y(mine (30)));"
%!   "say (sprintf ('%d %d %s', rank, right, strjoin (ids, ' ')));"
%!   "if (rank == 0), say (texts{1}); say (texts{3}); say (texts{12}); say (texts{20}); end"};
%! [status, out] = run_ranks (3, code);
%! assert (status == 0, "%s", out);
%! same = {"Stencil:option", "Stencil:option", "Stencil:option", "Stencil:option", "Convolution:option", "Stencil:option", ...
%!         "Stencil:option", "Convolution:rank", "Stencil:rank", "Stencil:dataType", ...
%!         "Stencil:option", "Convolution:option", "Stencil:option", "Stencil:option", "Convolution:option", ...
%!         "Stencil:rank", "Stencil:rank", "Convolution:rank", "none", "Stencil:option", "Stencil:option", "Stencil:option", "none"};
%! others = strjoin ([{"Stencil:rank", "Stencil:numberOfInputs", "Stencil:rank", "Stencil:rank"}, same], " ");
%! own = strjoin ([{"Stencil:kernelLength", "Stencil:numberOfInputs", "Stencil:rank", "Stencil:rank"}, same], " ");
%! for rank = 0:2
%!   assert (! isempty (strfind (out, sprintf ("<%d 1 %s>", rank, merge (rank == 1, own, others)))), "%s", out);
%! endfor
%! assert (! isempty (strfind (out, "Rank 1 raised StencilConstantMemory:kernelLength: kernelArray is 1x0")), "%s", out);
%! assert (! isempty (strfind (out, "'Iterations' is 1 on rank 0 and 2 on rank 1")), "%s", out);
%! assert (! isempty (strfind (out, "4x2, rank 1 one of 5x2")), "%s", out);
%! assert (! isempty (strfind (out, "entries of the filter is 3 on rank 0 and 2 on rank 1")), "%s", out);

%!testif ; has_ranks ()  # needs Open MPI
%! ## A rank whose script ends, or raises an error elsewhere, is detected immediately; so is an interrupted one.
%! code = {
%!   "x = (1:30)'; S = @() StencilConstantMemory_CUDA (x(mine (30)), [1 2 1], 'Distributed', true);"
%!   "S ();"
%!   "if (rank == 1), %s; end"
%!   "try, S (); say ('none'); catch e, say (e.message); end"};
%! for last = {"exit (0)", "error ('of the script')"}
%!   [~, out] = run_ranks (3, strrep (code, "%s", last{1}));
%!   assert (numel (strfind (out, "Rank 1 has left: its script ended, or raised an error elsewhere.>")) == 2, "%s", out);
%! endfor

%!testif ; has_ranks () && has_mpicc () && has_gpu ()  # needs Open MPI, its compiler and a GPU
%! ## If MPI takes addresses on a GPU, messages lie there: on all ranks, on some, or on none.
%! library = [tempname() ".so"];
%! source = fullfile (fileparts (which ("run_ranks")), "..", "stand_in", "mpi", "cuda_aware.c");
%! [status, out] = system (sprintf ("mpicc -O2 -Wall -Werror -fPIC -shared -o '%s' '%s' -ldl 2>&1", library, source));
%! assert (status == 0, "%s", out);
%! unwind_protect
%!   code = {
%!     "%first;"
%!     "if (any (rank == [%s])), setenv ('STENCIL_CUDA_AWARE_MPI', 'off'); end"
%!     "X = reshape (sin (1:60*50), 60, 50); F = reshape (1:9, 3, 3) / 60; x = sin ((1:3000)' / 7); k = [1 -2 3 1 -0.5] / 6; bad = 0; n = 0;"
%!     "for b = {0, 'circular', {'mirror', {2, 'replicate'}}}"
%!     "  for m = [1 9 60]"
%!     "    o = {'Boundary', b{1}, 'Iterations', m};"
%!     "    y = ConvolutionConstantMemory_CUDA (X, F, o{:});"
%!     "    v = ConvolutionConstantMemory_CUDA (DeviceArray (X(:,mine (50))), F, o{:}, 'Distributed', 2);"
%!     "    bad += ! isa (v, 'DeviceArray') || ! isequal (gather (v), y(:,mine (50))); n++;"
%!     "    y = ConvolutionConstantMemory_CUDA (single (X), F, o{:});"
%!     "    v = ConvolutionConstantMemory_CUDA (DeviceArray (single (X(mine (60),:))), F, o{:}, 'Distributed', 1);"
%!     "    bad += ! isequal (gather (v), y(mine (60),:)); n++;"
%!     "  end"
%!     "end"
%!     "for m = [1 7 200]"
%!     "  y = StencilConstantMemory_CUDA (x, k, 'Iterations', m);"
%!     "  v = StencilConstantMemory_CUDA (DeviceArray (x(mine (3000))), k, 'Iterations', m, 'Distributed', true);"
%!     "  bad += ! isequal (gather (v), y(mine (3000))); n++;"
%!     "  v = StencilConstantMemory_CUDA (x(mine (3000)), k, 'Iterations', m, 'Distributed', true);"
%!     "  bad += ! isequal (v, y(mine (3000))); n++;"
%!     "  v = StencilConstantMemory_CUDA (x(mine (3000)), k, 'Iterations', m, 'Distributed', true, 'Backend', 'cpu');"
%!     "  bad += ! isequal (v, y(mine (3000))); n++;"
%!     "end"
%!     "say (sprintf ('%%d bad of %%d', bad, n));"};
%!   settings = {["LD_PRELOAD=" library], "STENCIL_BACKEND=cuda"};
%!   ## If MPI starts before the driver, the driver ends before MPI.
%!   ahead = "x = StencilConstantMemory_CUDA (1:4, 1, 'Distributed', true, 'Backend', 'cpu')";
%!   for way = {2, [], [0 1], ahead; 2, 0:1, [], ahead; 3, 1, [0 2], ""; 5, [], 0:4, ahead}'
%!     [count, off, on, first] = way{:};
%!     lines = strrep (strrep (strrep (code, "%first", first), "[%s]", mat2str (off)), "%%", "%");
%!     [status, out] = run_ranks (count, lines, settings);
%!     assert (status == 0, "%s", out);
%!     assert (numel (strfind (out, "<0 bad of 27>")) == count, "%d ranks: %s", count, out);
%!     said = sortrows (cellfun (@str2double, vertcat (regexp (out, '<rank (\d): (\d+) messages from a GPU, (\d+) to one>', "tokens"){:})));
%!     assert (rows (said) == count, "%s", out);
%!     for rank = 0:count - 1
%!       assert ((said(rank + 1,2:3) > 0) == ([1 1] * any (rank == on)), "rank %d of %d: %s", rank, count, out);
%!     endfor
%!   endfor
%!   if (on_stand_in ())
%!     ## A GPU that fails while its messages are on their way: an error on all ranks, who go on without it.
%!     code = {
%!       "X = reshape (sin (1:60*50), 60, 50); F = reshape (1:9, 3, 3) / 60; o = {'Iterations', 60};"
%!       "y = ConvolutionConstantMemory_CUDA (X, F, o{:}, 'Backend', 'cpu')(:,mine (50));"
%!       "if (rank == 1), setenv ('CUDA_STAND_IN_FAIL', '%d:700:2'); end"
%!       "for b = {'cuda', 'cpu'}"
%!       "  try"
%!       "    v = ConvolutionConstantMemory_CUDA (DeviceArray (X(:,mine (50)), 'Backend', b{1}), F, o{:}, 'Distributed', 2);"
%!       "    w = {'wrong', 'right'}{1 + isequal(gather (v), y)};"
%!       "  catch e, w = strrep (e.identifier, ':', ' '); end"
%!       "  say ([b{1} ' ' w]);"
%!       "end"};
%!     failed = 0;
%!     for call = 145:9:200
%!       [status, out] = run_ranks (3, strrep (code, "%d", num2str (call)), settings);
%!       assert (status == 0 && isempty (strfind (out, "wrong")), "%d: %s", call, out);
%!       assert (numel (strfind (out, "<cpu right>")) == 3, "%d: %s", call, out);
%!       told = numel (strfind (out, "<cuda ConvolutionConstantMemory"));
%!       assert (any (told == [0 3]), "%d: %s", call, out);
%!       failed += told > 0;
%!     endfor
%!     assert (failed > 3, "%d failed", failed);
%!   endif
%! unwind_protect_cleanup
%!   unlink (library);
%! end_unwind_protect

%!test # Without a launcher there is one rank, or no MPI at all
%! [status, out] = run_octave ({
%!   "x = (1:30)'; y = StencilConstantMemory_CUDA (x, [1 2 1]);"
%!   "try, z = StencilConstantMemory_CUDA (x, [1 2 1], 'Distributed', true); disp (isequal (y, z));"
%!   "catch e, disp (e.identifier); end"
%!   "disp (isequal (y, StencilConstantMemory_CUDA (x, [1 2 1], 'Distributed', false)));"}, ...
%!   {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
%! assert (status == 0, "%s", out);
%! assert (! isempty (regexp (out, '^(1|StencilConstantMemory:rank)\n1\n', "lineanchors")), "%s", out);
