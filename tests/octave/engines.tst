## One contract, several engines: the GPU, the CPU, any number of threads and any
## size of piece give the same bits.

%!testif ; has_gpu ()  # needs a GPU
%! ## Every tap count, around every length at which a tile, a vector or a piece ends.
%! for m = 1:2:21
%!   taps = noise (m, 1, m);
%!   for n = [0:24, 31:33, 63:65, 127:129, 255:257, 511:513, 619:661, 1279:1281, 6399:6401, 32767:32769]
%!     x = noise (n, 1, n);
%!     [yes, why] = same_bits (StencilConstantMemory_CUDA (x, taps, "Backend", "cuda"), ...
%!                             StencilConstantMemory_CUDA (x, taps, "Backend", "cpu"));
%!     assert (yes, "%d taps, %d points: %s", m, n, why);
%!   endfor
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! shapes = {[7 5], [21 4], [1 1 40], [1 1 5 7], [33 1 6], [1 9 6], [5 4 3 2], [3 1000], ...
%!           [2 5000], [1 2 3000], [641 3], [1 641 3], [4 20000], [640 64], [659 70], ...
%!           [20000 14], [1 300000], [262143 1], [262144 1], [262145 1], [262154 2], [700 700]};
%! for i = 1:numel (shapes)
%!   x = noise (i, shapes{i});
%!   for m = [1 3 11 19 21]
%!     taps = noise (m, m, 1);
%!     [yes, why] = same_bits (StencilConstantMemory_CUDA (x, taps, "Backend", "cuda"), ...
%!                             StencilConstantMemory_CUDA (x, taps, "Backend", "cpu"));
%!     assert (yes, "%d taps, size %s: %s", m, mat2str (shapes{i}), why);
%!   endfor
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! ## Numbers at the ends of the range, and what is not a number.
%! tiny = 2 ^ -1074;
%! spiked = noise (1, 1, 3000);
%! spiked(3:97:end) = NaN;
%! spiked(7:101:end) = Inf;
%! spiked(11:103:end) = -Inf;
%! spiked(13:89:end) = -0;
%! xs = {tiny * (-500:500), realmin * noise(2, 1, 2000), 2 ^ -530 * noise(3, 1, 2000), ...
%!       realmax * (noise(4, 1, 2000) > 0), 1e307 * noise(5, 1, 2000), -zeros(1, 700), spiked};
%! ks = {1, [0.5 -1.5 0.75], [1 -1 1 -1 1], noise(1, 1, 21), tiny * (1:5), ...
%!       2 ^ -530 * noise(2, 1, 9), [1 Inf 1], [NaN 1 1], [1 1 -Inf], -zeros(1, 3), [2 -2 1]};
%! for i = 1:numel (xs)
%!   for j = 1:numel (ks)
%!     y = StencilConstantMemory_CUDA (xs{i}, ks{j}, "Backend", "cuda");
%!     [yes, why] = same_bits (y, StencilConstantMemory_CUDA (xs{i}, ks{j}, "Backend", "cpu"));
%!     assert (yes, "x %d, taps %d: %s", i, j, why);
%!     [yes, why] = same_bits (y, fma_stencil (xs{i}, ks{j}));
%!     assert (yes, "x %d, taps %d against the reference: %s", i, j, why);
%!   endfor
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! ## Large enough for many pieces on any card.
%! x = noise (1, 1, {5e6, 5e5}{1 + is_small ()} + 13);
%! for m = [1 11 21]
%!   taps = noise (m, 1, m);
%!   [yes, why] = same_bits (StencilConstantMemory_CUDA (x, taps, "Backend", "cuda"), ...
%!                           StencilConstantMemory_CUDA (x, taps, "Backend", "cpu"));
%!   assert (yes, "%d taps: %s", m, why);
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! ## The bound on the GPU's memory, down to one tile: only the pieces change.
%! code = {
%!   "shapes = {[1 1e5], [1 641], [99999 1], [3 9000], [650 41], [40 1000], [1 3 7000], [1 1], [0 3]};"
%!   "for i = 1:numel (shapes)"
%!   "  x = noise (i, shapes{i});"
%!   "  for m = [1 11 21]"
%!   "    taps = noise (m, 1, m);"
%!   "    [yes, why] = same_bits (StencilConstantMemory_CUDA (x, taps, 'Backend', 'cuda'), ..."
%!   "                            StencilConstantMemory_CUDA (x, taps, 'Backend', 'cpu'));"
%!   "    assert (yes, '%d taps, size %s: %s', m, mat2str (shapes{i}), why);"
%!   "  end"
%!   "end"
%!   "disp ('equal');"};
%! for bytes = [12000, 30000, 100000, 1000003]
%!   [status, out] = run_octave (code, {sprintf("STENCIL_DEVICE_BYTES=%d", bytes)});
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (! isempty (strfind (out, "equal")), out);
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! ## The derivative: both classes, both ways to its coefficients.
%! shapes = {[1 0], [1 1], [1 8], [1 9], [5 3], [9 40], [3 5000], [8 3000], [1 641], [641 7], [1 1 5 7], ...
%!           [700 700], [1 262144], [262145 1], [20000 14], [4 20000], [1 3000013]};
%! if (on_stand_in ())
%!   shapes(end) = {[1 300013]};
%! endif
%! for i = 1:numel (shapes)
%!   for type = {"double", "single"}
%!     x = cast (noise (i, shapes{i}), type{1});
%!     want = DerivativeConstantMemory_CUDA (x, 0.3, "Backend", "cpu");
%!     for source = {"constant", "readonly"}
%!       [yes, why] = same_bits (DerivativeConstantMemory_CUDA (x, 0.3, "Backend", "cuda", ...
%!                                                              "Coefficients", source{1}), want);
%!       assert (yes, "%s, size %s, %s: %s", type{1}, mat2str (shapes{i}), source{1}, why);
%!     endfor
%!   endfor
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! ## The convolution: every filter of two dimensions and of three, over small and large.
%! [i, j, k] = ndgrid (1:2:15, 1:2:15, 1:2:7);
%! sizes = [i(:), j(:), k(:)];
%! sizes(sizes(:,3) > 1 & any (sizes > 7, 2),:) = [];
%! for i = 1:rows (sizes)
%!   for type = {"double", "single"}
%!     filter = cast (noise (i, sizes(i,:)), type{1});
%!     for dims = {[1 1], [70 50], [33 9 8]}
%!       n = cast (noise (i, dims{1}), type{1});
%!       [yes, why] = same_bits (ConvolutionConstantMemory_CUDA (n, filter, "Backend", "cuda"), ...
%!                               ConvolutionConstantMemory_CUDA (n, filter, "Backend", "cpu"));
%!       assert (yes, "%s, %s under %s: %s", type{1}, mat2str (dims{1}), mat2str (sizes(i,:)), why);
%!     endfor
%!   endfor
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! shapes = {[0 3], [1 20000], [20000 1], [3 20000], [20000 3], [15 15 300], [2 3 5000], [1 1 9000], ...
%!           [1023 1025], [2000 1500], [127 129 65]};
%! if (is_small ())
%!   ## Each page, however small, takes a block of threads.
%!   shapes = {[0 3], [1 3000], [3000 1], [3 2000], [2000 3], [15 15 40], [2 3 70], [1 1 90], ...
%!             [127 129], [150 100], [33 35 17]};
%! endif
%! filters = {[1 1], [3 3], [5 5], [15 15], [1 15], [15 1], [3 7], [3 3 3], [7 7 7], [1 1 7]};
%! for i = 1:numel (shapes)
%!   for j = 1:numel (filters)
%!     for type = {"double", "single"}
%!       n = cast (noise (i, shapes{i}), type{1});
%!       filter = noise (j, filters{j});
%!       [yes, why] = same_bits (ConvolutionConstantMemory_CUDA (n, filter, "Backend", "cuda"), ...
%!                               ConvolutionConstantMemory_CUDA (n, filter, "Backend", "cpu"));
%!       assert (yes, "%s, %s under %s: %s", type{1}, mat2str (shapes{i}), mat2str (filters{j}), why);
%!     endfor
%!   endfor
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! ## The bound on the GPU's memory, down to a piece: the same for these two.
%! code = {
%!   "function equal (name, varargin)"
%!   "  [yes, why] = same_bits (feval (name, varargin{:}, 'Backend', 'cuda'), ..."
%!   "                          feval (name, varargin{:}, 'Backend', 'cpu'));"
%!   "  assert (yes, '%s, size %s: %s', name, mat2str (size (varargin{1})), why);"
%!   "end"
%!   "shapes = {[1 1e5], [99999 1], [3 9000], [650 41], [40 1000], [1 3 700], [1 1], [0 3], [30 20 50]};"
%!   "if (on_stand_in ())"
%!   "  shapes = {[1 4000], [4001 1], [3 900], [650 5], [40 60], [1 3 9], [1 1], [0 3], [9 8 7]};"
%!   "end"
%!   "for type = {'double', 'single'}"
%!   "  for dims = shapes"
%!   "    x = cast (noise (1, dims{1}), type{1});"
%!   "    equal ('DerivativeConstantMemory_CUDA', x, 0.3);"
%!   "    equal ('DerivativeConstantMemory_CUDA', x, 'Coefficients', 'readonly');"
%!   "    for size_f = {[1 1], [5 5], [15 15], [1 15], [15 1], [7 7 7], [1 1 7]}"
%!   "      equal ('ConvolutionConstantMemory_CUDA', x, noise (2, size_f{1}));"
%!   "    end"
%!   "  end"
%!   "end"
%!   "disp ('equal');"};
%! for bytes = [1, 12000, 100000, 1000003]
%!   [status, out] = run_octave (code, {sprintf("STENCIL_DEVICE_BYTES=%d", bytes)});
%!   assert (status == 0, "status %d: %s", status, out);
%!   assert (! isempty (strfind (out, "equal")), out);
%! endfor

%!testif ; has_gpu () && ConstantMemoryDevice_CUDA ().DeviceCount > 1  # needs two GPUs
%! x = noise (1, 1, 3e5);
%! taps = noise (2, 1, 21);
%! want = StencilConstantMemory_CUDA (x, taps, "Backend", "cpu");
%! for i = [1:ConstantMemoryDevice_CUDA().DeviceCount, 1]
%!   [yes, why] = same_bits (StencilConstantMemory_CUDA (x, taps, "Device", i), want);
%!   assert (yes, "device %d: %s", i, why);
%!   assert (same_bits (DerivativeConstantMemory_CUDA (x, "Device", i), ...
%!                      DerivativeConstantMemory_CUDA (x, "Backend", "cpu")));
%!   assert (same_bits (ConvolutionConstantMemory_CUDA (x, taps(1:15), "Device", i), ...
%!                      ConvolutionConstantMemory_CUDA (x, taps(1:15), "Backend", "cpu")));
%! endfor

%!testif ; has_gpu ()  # needs a GPU
%! ## By turns: neither engine disturbs the other.
%! for i = 1:30
%!   x = noise (i, 1, 100 * i);
%!   taps = noise (i, 1, 1 + 2 * mod (i, 11));
%!   backend = {"cpu", "cuda"}{1 + mod (i, 2)};
%!   agrees (x, taps, "Backend", backend);
%!   agrees_with (@fma_derivative, "DerivativeConstantMemory_CUDA", {single(x), i, "Backend", backend});
%!   agrees_with (@fma_convolution, "ConvolutionConstantMemory_CUDA", ...
%!                {reshape(x, 10, []), noise(i, 3, 1 + 2 * mod (i, 5)), "Backend", backend});
%! endfor

%!test # as many threads as one likes
%! code = {
%!   "function text = print_of (v)"
%!   "  text = hash ('md5', char (typecast (v(:), 'uint8').'));"
%!   "end"
%!   "cpu = {'Backend', 'cpu'}; text = '';"
%!   "for x = {noise(1, 1, 3e5 + 7), noise(2, 601, 400), noise(3, 60, 50, 70)}"
%!   "  for m = [1 9 21]"
%!   "    text = [text, print_of(StencilConstantMemory_CUDA (x{1}, noise (m, 1, m), cpu{:}))];"
%!   "  end"
%!   "  for x = {x{1}, single(x{1})}"
%!   "    text = [text, print_of(DerivativeConstantMemory_CUDA (x{1}, 0.3, cpu{:}))];"
%!   "    for size_f = {[3 3], [1 15], [3 3 3]}"
%!   "      text = [text, print_of(ConvolutionConstantMemory_CUDA (x{1}, noise (1, size_f{1}), cpu{:}))];"
%!   "    end"
%!   "  end"
%!   "end"
%!   "disp (['<' text '>']);"};
%! first = "";
%! for threads = [1 2 3 8]
%!   [status, out] = run_octave (code, {sprintf("STENCIL_THREADS=%d", threads)});
%!   assert (status == 0, "status %d: %s", status, out);
%!   print = regexp (out, '<\w+>', "match", "once");
%!   assert (numel (print) == 2 + 32 * 3 * (3 + 2 * 4), "it printed: %s", out);
%!   if (isempty (first))
%!     first = print;
%!   endif
%!   assert (print, first);
%! endfor
