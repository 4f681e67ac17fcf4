## DeviceArray.iterate and DeviceArray.compile: the bits of the plain loop, the options of the loop, and operations that
## cannot be recorded.

%!shared x, y
%! rand ("seed", 3);
%! [x, y] = deal (rand (40, 23), rand (40, 23));

%!function [u, v] = react (u, v)
%!  taps = [1 4 1; 4 -20 4; 1 4 1] / 6;
%!  uvv = u .* v .* v;
%!  lu = ConvolutionConstantMemory_CUDA (u, taps, "Boundary", "circular");
%!  lv = ConvolutionConstantMemory_CUDA (v, taps, "Boundary", "circular");
%!  u = u + (0.16 * lu - uvv + 0.037 * (1 - u));
%!  v = v + (0.08 * lv + uvv - 0.097 * v);
%!endfunction

%!function x = life (x)
%!  n = ConvolutionConstantMemory_CUDA (double (x), [1 1 1; 1 0 1; 1 1 1], "Boundary", "circular");
%!  x = (n == 3) | (x & (n == 2));
%!endfunction

%!function x = shifted (x)
%!  ## In the manner of arrays that are shifted by their indices, held at the edges.
%!  n = rows (x);
%!  [p, q] = deal ([1, 1:n-1], [2:n, n]);
%!  x = 0.5 * x + 0.125 * (x(p,:) + x(q,:) + circshift (x, 1, 2) + circshift (x, -1, 2));
%!endfunction

%!function [x, r, p, rr] = gradient_step (x, r, p, rr)
%!  q = ConvolutionConstantMemory_CUDA (p, [0 -1 0; -1 4 -1; 0 -1 0]);
%!  alpha = rr / dot (p(:), q(:));
%!  x = x + alpha * p;
%!  r = r - alpha * q;
%!  new = sum (r(:) .^ 2);
%!  p = r + (new / rr) * p;
%!  rr = new;
%!endfunction

## Steps one by one against all of them.
%!function check (f, n, varargin)
%!  states = cellfun (@(a) DeviceArray (a), varargin, "UniformOutput", false);
%!  plain = states;
%!  for k = 1:n
%!    [plain{:}] = f (plain{:});
%!  endfor
%!  done = cell (size (states));
%!  [done{:}] = DeviceArray.iterate (f, n, states{:}, "States", numel (states));
%!  for i = 1:numel (done)
%!    [a, b] = deal (gather (done{i}), gather (plain{i}));
%!    assert (class (a), class (b));
%!    assert (same_bits (a, b), "state %d of %s", i, func2str (f));
%!  endfor
%!  step = DeviceArray.compile (f, states{:}, "States", numel (states));
%!  again = states;
%!  for k = 1:n
%!    [again{:}] = step (again{:});
%!  endfor
%!  for i = 1:numel (done)
%!    assert (same_bits (gather (again{i}), gather (plain{i})), "compiled state %d of %s", i, func2str (f));
%!  endfor
%!endfunction

%!function said = refused_step (f, varargin)
%!  said = "";
%!  try
%!    DeviceArray.iterate (f, 2, varargin{:});
%!  catch err
%!    assert (err.identifier, "DeviceArray:trace", err.message);
%!    said = err.message;
%!  end_try_catch
%!  assert (! isempty (said), "no error");
%!endfunction

%!test  # several steps a launch: the bits of the plain loop, whatever is walked
%! before = getenv ("STENCIL_WALK");
%! unwind_protect
%!   for walk = {"2x1", "3x2", "4x2x1x5", "1x1x2x3", "auto", "off"}
%!     setenv ("STENCIL_WALK", walk{1});
%!     check (@react, 7, x, y);
%!     check (@life, 9, x > 0.5);
%!     check (@shifted, 5, x);
%!     filter = [0.3, -0.2; 0.1, 0.4; 0.2, 0.1];
%!     swept = ConvolutionConstantMemory_CUDA (x, filter, "Iterations", 11);
%!     once = x;
%!     for k = 1:11
%!       once = ConvolutionConstantMemory_CUDA (once, filter);
%!     endfor
%!     assert (same_bits (swept, once), walk{1});
%!     check (@gradient_step, 3, 0 * x, y, y, sum (y(:) .^ 2));
%!     for record = {@(u, v) v([9 3 9],:), @(u, v) u(end), @(u, v) u(:,2:4)}
%!       [u, v, kept, info] = DeviceArray.iterate (@react, 11, x, y, "Record", record{1}, ...
%!                                                 "Until", @(u, v) u(1) < -1, "Check", 4);
%!       [p, q, pages] = deal (x, y, []);
%!       for k = 1:11
%!         [p, q] = react (p, q);
%!         pages = [pages, record{1}(p, q)(:)];
%!       endfor
%!       assert (same_bits (u, p) && same_bits (v, q) && info.Steps == 11);
%!       assert (same_bits (kept, pages), "%s by %s", func2str (record{1}), walk{1});
%!     endfor
%!   endfor
%!   ## Enough for replays of batches.
%!   setenv ("STENCIL_WALK", "auto");
%!   check (@gradient_step, 75, 0 * x, y, y, sum (y(:) .^ 2));
%!   setenv ("STENCIL_WALK", "fast");
%!   said = "";
%!   try
%!     DeviceArray.iterate (@shifted, 2, DeviceArray (x));
%!   catch err
%!     said = err.message;
%!   end_try_catch
%!   assert (! isempty (strfind (said, "STENCIL_WALK")), said);
%! unwind_protect_cleanup
%!   setenv ("STENCIL_WALK", before);
%! end_unwind_protect

%!test  # the bits of the plain loop
%! check (@react, 5, x, y);
%! check (@react, 3, single (x), single (y));
%! check (@life, 6, x > 0.6);
%! check (@life, 6, double (x > 0.6));
%! ## Truth values are stored in either class of numbers.
%! check (@(u) 2 * single (u) < 1, 3, x > 0.6);
%! check (@(u, v) deal (u & v, 2 * single (u) < 1), 3, x > 0.6, y > 0.6);
%! check (@shifted, 4, x);
%! check (@(u) u + 0.4 * StencilConstantMemory_CUDA (u, [1 -2 1], "Boundary", "symmetric"), 9, x);
%! check (@(u) u - 0.1 * DerivativeConstantMemory_CUDA (u, 0.5, "Boundary", "circular"), 4, x);
%! check (@(u) max (min (exp (-u .^ 2) + sin (3 * u), 1.5), -0.5), 3, x);
%! check (@(u) u .* (1:columns (u)) - u(:,1) + u(3,:), 3, x);

%!function [u, v] = choose (u, v, kept)
%!  ## By each element, by a mask from outside, by one number, and with NaN on the side that is not chosen.
%!  w = merge (u >= v, sqrt (u - v), -v);
%!  w = merge (kept, w, merge (w < 0.1, v(1) - v(1), -w));
%!  u = merge (any (u(:) > 1), v, 1.5 * u);
%!  v = merge (sum (w(:)) > 0 & max (w(:)) < 0.9, w, merge (! kept, u, -0 * w));
%!endfunction

%!test  # choices by masks
%! kept = rand (size (x)) > 0.3;
%! special = x;
%! special(1:6) = [NaN -0 0 Inf -Inf 1];
%! for m = {kept, DeviceArray(kept), true, false}
%!   f = @(u, v) choose (u, v, m{1});
%!   check (f, 6, x, y);
%!   check (f, 6, single (x), single (y));
%!   check (f, 4, special, y);
%!   check (f, 4, y, special);
%! endfor
%! check (@(u) merge (u > 2, int8 (-5), u + 1), 5, int8 (4 * x));
%! check (@(u) merge (u, ! kept, ! u), 3, x > 0.5);
%! check (@(u) merge (any (u(:) > 0.999), u, ! u), 3, x > 0.5);
%! [~, info] = DeviceArray.iterate (@(u) merge (u > 0.5, 0.5 * u, u + merge (kept, u, 1)), 3, x);
%! assert (info.Kernels, 1);
%! ## A choice by one number has the size of the larger operand while it is
%! ## recorded.
%! u = DeviceArray.iterate (@(u) merge (all (u(:) > -1), -0, u), 1, x);
%! assert (same_bits (u, -zeros (size (x))));
%! refused (@() DeviceArray.iterate (@(u) merge (any (u(:) > 1), u, single (u)), 2, x), "", "cannot merge");
%! refused (@() DeviceArray.iterate (@(u) merge (any (u(:) > 1), u, u(:)), 2, x), "", "nonconformant");

%!test  # numbers that are computed on the way
%! r = DeviceArray (x);
%! zero = DeviceArray (zeros (size (x)));
%! check (@gradient_step, 7, zeros (size (x)), x, x, sum (r(:) .^ 2));

%!function [u, p, t] = options_of_states (u, p, t, of, given)
%!  ## Numbers and arrays of a step, and constants, wherever the functions take such.
%!  F = [1 2 1; 2 -12 2; 1 3 2] / 16;
%!  bound = {t, "circular", {t, {t, 2}}, {{"mirror", t}, "replicate"}}{of};
%!  v = ConvolutionConstantMemory_CUDA (u, F, "Boundary", bound, "Previous", p, "Weight", -t, "Source", t / 7, "Iterations", 2);
%!  w = StencilConstantMemory_CUDA (v, {[1 2 1] / 4, [1 2] / 3}, "Boundary", t, "Dim", [2 1], "Source", given);
%!  w += StencilConstantMemory_CUDA (DeviceArray (given), [1 2 1] / 4, "Previous", u, "Weight", max (u(:)));
%!  w += 0.01 * DerivativeConstantMemory_CUDA (u, 0.5, "Boundary", t) + ConvolutionConstantMemory_CUDA (u, F, t);
%!  w += ConvolutionConstantMemory_CUDA (u, F(1:2,:), t, "full")(1:end-1,2:end-1);
%!  [u, p, t] = deal (w / max (abs (w(:))), u, 0.9 * t);
%!endfunction

%!function said = message_of (f, varargin)
%!  said = "no error";
%!  try
%!    DeviceArray.iterate (f, 2, varargin{:});
%!  catch err
%!    said = [err.identifier " " err.message];
%!  end_try_catch
%!endfunction

%!test  # what a step computes as an option of the functions, with the bits of a number
%! for of = 1:4
%!   for given = {y, DeviceArray(y)}
%!     check (@(u, p, t) options_of_states (u, p, t, of, given{1}), 3, x, y, 1.3);
%!   endfor
%!   check (@(u, p, t) options_of_states (u, p, t, of, single (y)), 3, single (x), single (y), 1.3);
%! endfor
%! check (@(u, t) deal (StencilConstantMemory_CUDA (u, [1 2 1], "Boundary", t) / 4, t), 2, x, NaN);
%! ## One kernel for all numbers, which are those of each step.
%! C = @ConvolutionConstantMemory_CUDA;
%! f = @(u, a) C (u, ones (3) / 9, "Source", a);
%! u = DeviceArray.iterate (f, 2, x, "States", 1, "Values", [3 5]);
%! assert (u, gather (f (f (DeviceArray (x), 3), 5)));
%! for image = {x > 0.5, uint8(x)}
%!   said = message_of (@(u, t) deal (C (u, ones (3), "Boundary", t), t), image{1}, 1);
%!   assert (! isempty (strfind (said, "ConvolutionConstantMemory:option")) && ! isempty (strfind (said, "double (N)")), said);
%! endfor
%! for f = {@(u, t) C(u, t * ones (3)), @(u, t) StencilConstantMemory_CUDA(u, [1 t 1]), @(u, t) DerivativeConstantMemory_CUDA(u, t)}
%!   said = message_of (@(u, t) deal (f{1} (u, t), t), x, 1);
%!   assert (! isempty (strfind (said, "s * C (u, F)")) && isempty (strfind (said, "gather")), said);
%! endfor

%!function [u, w, m] = by_masks (u, w, m)
%!  u(u > 0.5) = 0.5;
%!  w(u < 0.3) = u(u < 0.3);
%!  k = w > 0.4;
%!  w(k) += 1;
%!  w(! k) = 2 * w(! k) .^ 2 - u(! k);
%!  c = int8 (100 * u);
%!  c(k) = u(k) * 300;
%!  m(k) = u(k) - 0.5;
%!  m(3) = u(3);
%!  h = zeros (size (u), "like", u);
%!  h(logical (floor (2 * w))) = -0;
%!  u = u + h + double (c) .* m;
%!endfunction

%!test  # assignments by masks of the states
%! check (@by_masks, 4, x, y, x > y);
%! check (@by_masks, 4, single (x), y, x > y);
%! check (@(u) subsasgn (u, substruct ("()", {isnan(u)}), 7), 2, [NaN -0; 0 Inf]);
%! [~, info] = DeviceArray.iterate (@(u) subsasgn (u, substruct ("()", {u > 0.5}), 0.5), 2, x);
%! assert (info.Kernels, 1);
%! masked = {@(u) u + sum (u(u > 0.5)), @(u) u + numel (u(u > 0.5)), @(u) u(u > 0.5), @(u) u(u > 0.5) + u(u < 0.5), ...
%!           @(u) subsasgn(u, substruct ("()", {u > 0.5}), u(u < 0.5)), @(u) subsasgn(u, substruct ("()", {u > 0.5}), [1 2])};
%! for f = masked
%!   assert (! isempty (strfind (refused_step (f{1}, x), "merge (mask, u, 0)")), "%s", func2str (f{1}));
%! endfor

%!test  # constant indices that name what is beside each element, and circshift, are parts of the kernel
%! n = rows (x);
%! m = columns (x);
%! held = {[1, 1:n-1], [2:n, n]};
%! around = {[n, 1:n-1], [2:n, 1], [3:n, 1, 2]};
%! mirrored = {[3, 2, 1:n-2], [2:n, n-1]};
%! for p = [held, around, mirrored]
%!   f = @(x) 0.5 * x(p{1},:) - x;
%!   check (f, 3, x);
%!   [~, info] = DeviceArray.iterate (f, 1, x);
%!   assert (info.Kernels == 1, "%s", mat2str (p{1}));
%! endfor
%! q = [1, 1:m-1];
%! volume = reshape (x(:,1:20), 8, 5, 20);
%! inputs = {@(x) x(held{1},q) + x(around{2},q) - x(held{2},:), x;
%!           @(x) x([2:end, 1]) + x, x(:,1);
%!           @(x) x([1, 1:end-1]) + x, x(1,:);
%!           @(x) circshift (x, 3) + circshift (x, -17, 2) + x(:,q), x;
%!           @(x) circshift (x, 1) .* x([2:8, 8],:,[1, 1:19]) - circshift (x, 13, 3), volume};
%! for i = 1:rows (inputs)
%!   check (inputs{i,1}, 3, inputs{i,2});
%!   [~, info] = DeviceArray.iterate (inputs{i,1}, 1, inputs{i,2});
%!   assert (info.Kernels == 1, "%s", func2str (inputs{i,1}));
%! endfor
%! ## -0 stays, and so does NaN.
%! check (@(x) x([2:end, 1]), 2, [-0; NaN; 0; -0; -Inf]);
%! check (@(x) circshift (x, 1), 2, single ([-0; NaN; 0; -0; -Inf]));
%! ## Other indices of elements are gathered.
%! check (@(x) x([2, 1, 3:n],:) + x(n:-1:1,:) + x([1, 1, 1, 2:n-2],:), 3, x);

%!function x = into_ordinary (x)
%!  y = zeros (1, 3);
%!  y(2) = sum (x(:));
%!  x = x + y(2);
%!endfunction

%!function x = switches (x)
%!  switch (max (x(:)))
%!    case 1
%!      x = x + 1;
%!    otherwise
%!      x = x + 2;
%!  endswitch
%!endfunction

%!function x = of_the_host (x)
%!  x = x + polyval ([1 2], x);
%!endfunction

%!function x = catches (x)
%!  try
%!    x = x(x > 0.5);
%!  catch
%!    x = 2 * x;
%!  end_try_catch
%!endfunction

%!function x = by_slices (x)
%!  x(2:end-1,2:end-1) += 0.1 * (x(1:end-2,2:end-1) - 2 * x(2:end-1,2:end-1) + x(3:end,2:end-1) ...
%!                               + x(2:end-1,1:end-2) - 2 * x(2:end-1,2:end-1) + x(2:end-1,3:end));
%!  x(1,:) = x(2,:);
%!  x(:,end) = 0;
%!endfunction

%!function [x, s] = of_one_element (x, s)
%!  twice = StencilConstantMemory_CUDA (StencilConstantMemory_CUDA (s, [1 2 1]), [1 2 1], "replicate");
%!  x = x + 0.01 * twice + circshift (s, 1);
%!  s = 0.5 * s;
%!endfunction

%!test  # norms and powers of numbers that are computed on the way
%! check (@(x) x ./ norm (x(:)) + 0.5 * norm (x, "fro"), 3, x);
%! check (@(x) x ./ norm (x(:), 1) + norm (x(:), Inf), 2, single (x));
%! for scale = [1e200, 1e-200, 0, Inf, NaN]
%!   check (@(x) x ./ norm (x), 2, scale * [3; 4; 0]);
%! endfor
%! check (@(x) x * max (x(:)) ^ 2 - 2 ^ min (x(:)), 3, x);

%!test  # what a compiled step knows
%! step = DeviceArray.compile (@(u, c) u .* c.k, [1 2 3], struct ("k", [1 2 3]), "States", 1);
%! refused (@() step ([1 2], struct ("k", [1 2 3])), "", "nonconformant");
%! assert (step ([1 2 3], struct ("k", [1 2 3])), [1 4 9]);
%! assert (class (step ([1 2 3], struct ("k", single ([1 2 3])))), "single");
%! step = DeviceArray.compile (@(u, c) u .* c, [1 2 3], 0, "States", 1);
%! assert (1 ./ step ([1 2 3], -0), [-Inf -Inf -Inf]);

%!function x = told_anew (file, x)
%!  fid = fopen (file, "a");
%!  fputs (fid, "x");
%!  fclose (fid);
%!endfunction

%!test  # what a recording is known by: classes inside, parts and signs of zeros, storage, order, and what handles have
%! pairs = {{DeviceArray([1 2])}, {DeviceArray(int8 ([1 2]))}; {"a", {single(1)}}, {"a", {1}}; complex(0, 1), complex(-0, 1);
%!          complex(1, 0), 1; sparse(1), 1; struct("a", 1, "b", 1), struct("b", 1, "a", 1); @(v) v + 1, @(v) v + 2};
%! calls = tempname ();
%! cleanup = onCleanup (@() unlink (calls));
%! recorded = @() stat (calls).size;
%! for i = 1:rows (pairs)
%!   step = DeviceArray.compile (@(u, c) told_anew (calls, u), [1 2], pairs{i,1}, "States", 1);
%!   [before, same] = deal (recorded (), pairs{i,1});
%!   step ([1 2], same);
%!   assert (recorded (), before);
%!   step ([1 2], pairs{i,2});
%!   assert (recorded () == before + 1, "%s", disp (pairs(i,:)));
%! endfor
%! step = DeviceArray.compile (@(u, c) told_anew (calls, u), [1 2], NaN, "States", 1);
%! before = recorded ();
%! step ([1 2], NaN);
%! assert (recorded (), before);
%! ## The object behind a handle may change.
%! m = containers.Map ("k", 2);
%! steps = {DeviceArray.compile(@(u, m) u * m("k"), [1 2], m, "States", 1), DeviceArray.compile(@(u) u * m("k"), [1 2])};
%! m("k") = 5;
%! assert ({steps{1}([1 2], m), steps{2}([1 2])}, {[5 10], [5 10]});
%! ## Other numbers of constants.
%! step = DeviceArray.compile (@(u, varargin) u + numel (varargin), [1 2]);
%! assert ({step([1 2], 7, 7), step([1 2])}, {[3 4], [1 2]});

%!test  # a compiled step outlives its functions, and is none in a file
%! [status, said] = run_octave ({"step = DeviceArray.compile (@(u, a) u * a, 1:3, 2, 'States', 1);", "clear functions", ...
%!                               "printf ('%g ', step (1:3, 2));"});
%! assert (status == 0 && ! isempty (strfind (said, "2 4 6")), "%s", said);
%! step = DeviceArray.compile (@(u, a) u * a, 1:3, 2, "States", 1);
%! file = tempname ();
%! cleanup = onCleanup (@() unlink (file));
%! warning ("off", "all", "local");
%! save ("-text", file, "step");
%! clear step
%! load (file);
%! refused (@() step (1:3, 2), "deleted", "Compile it again with DeviceArray.compile");

%!test  # options of other classes, functions of the host, and results that are missing
%! [u, info] = DeviceArray.iterate (@(u) 2 * u, int8 (4), [1; 2], "Every", single (2), "Check", uint8 (3), "States", int16 (1));
%! assert ({u, info.Steps}, {[4 16; 8 32], 4});
%! assert (DeviceArray.iterate (@sqrt, 2, [16 81]), [2 3]);
%! refused (@() DeviceArray.iterate (@(u, k) u + k, 3, [1 2], 5), "option", "'States'");

%!test  # filters of what has one element
%! check (@of_one_element, 3, x, 2);

%!test  # slices of one array, each at a place of its own
%! check (@by_slices, 4, x);
%! check (@by_slices, 4, single (y));
%! check (@(x) 0.5 * (x(:,end:-1:1) - x(end:-1:1,:)), 3, x);
%! check (@(x) x + x(3,:) .* x(:,2) - x(5,:) .* x(:,7), 3, x);

%!test  # ordinary arrays come back as such; others stay
%! [u, v, info] = DeviceArray.iterate (@react, 3, x, DeviceArray (y));
%! assert ({class(u), class(v)}, {"double", "DeviceArray"});
%! [p, q] = deal (DeviceArray (x), DeviceArray (y));
%! for k = 1:3
%!   [p, q] = react (p, q);
%! endfor
%! assert ({u, gather(v)}, {gather(p), gather(q)});
%! assert ({info.Steps, info.Reason, info.Kernels}, {3, "steps", 1});
%! assert (info.Milliseconds > 0);
%! [u, info] = DeviceArray.iterate (@(u) 2 * u, 0, x);
%! assert ({u, info.Steps}, {x, 0});

%!test  # what follows the states stays
%! f = @(u, k, d) u + d * k .* StencilConstantMemory_CUDA (u, [1 -2 1]);
%! k = DeviceArray (y);
%! u = DeviceArray.iterate (f, 4, DeviceArray (x), k, 0.1, "States", 1);
%! p = DeviceArray (x);
%! for i = 1:4
%!   p = f (p, k, 0.1);
%! endfor
%! assert (gather (u), gather (p));
%! step = DeviceArray.compile (f, DeviceArray (x), k, 0.1, "States", 1);
%! assert (gather (step (DeviceArray (x), k, 0.1)), gather (f (DeviceArray (x), k, 0.1)));
%! assert (gather (step (DeviceArray (x), k, 0.3)), gather (f (DeviceArray (x), k, 0.3)));
%! k(1) = 100;
%! assert (gather (step (DeviceArray (x), k, 0.3)), gather (f (DeviceArray (x), k, 0.3)));
%! assert (gather (step (DeviceArray (y), DeviceArray (x), 0.3)), gather (f (DeviceArray (y), DeviceArray (x), 0.3)));

%!test  # a compiled step takes other sizes and classes
%! f = @(u) u + 0.25 * StencilConstantMemory_CUDA (u, [1 -2 1]);
%! step = DeviceArray.compile (f, DeviceArray (x));
%! for a = {x, x(1:7,1:5), single(x), x(:,1), y}
%!   assert (same_bits (gather (step (DeviceArray (a{1}))), gather (f (DeviceArray (a{1})))));
%! endfor
%! assert (step (x), gather (f (DeviceArray (x))));
%! step = DeviceArray.compile (@(u) ! u, DeviceArray (x > 0.5));
%! for a = {DeviceArray(single (x)) > 0.5, DeviceArray(x) > 0.5}
%!   assert (gather (step (a{1})), ! gather (a{1}));
%! endfor

%!test  # states on the way
%! f = @(u) 0.5 * u + 1;
%! [all, info] = DeviceArray.iterate (f, 6, DeviceArray (x), "Every", 2);
%! assert (size (all), [size(x), 3]);
%! p = x;
%! for k = 1:6
%!   p = 0.5 * p + 1;
%!   if (mod (k, 2) == 0)
%!     assert (gather (all(:,:,k/2)), p);
%!   endif
%! endfor
%! assert (size (DeviceArray.iterate (f, 6, x(:,1), "Every", 3)), [rows(x), 2]);
%! ## The first step changes the class.
%! all = gather (DeviceArray.iterate (@life, 4, double (x > 0.6), "Every", 2));
%! p = DeviceArray (double (x > 0.6));
%! for k = 1:4
%!   p = life (p);
%! endfor
%! assert ({class(all), all(:,:,2)}, {"logical", gather(p)});

%!test  # what is recorded, and values of each step
%! w = [1 2 3 4 5; 10 20 30 40 50];
%! f = @(u, a, b) u + a - 0.01 * b;
%! g = @(u) [u(2,3); sum(u(:)); max(u(:))];
%! [u, r, info] = DeviceArray.iterate (f, 5, DeviceArray (x), "States", 1, "Values", w, "Record", g);
%! p = DeviceArray (x);
%! for k = 1:5
%!   p = f (p, w(1,k), w(2,k));
%!   assert (r(:,k), [p(2,3); sum(p(:)); max(p(:))]);
%! endfor
%! assert ({gather(u), size(r)}, {gather(p), [3 5]});
%! [~, r] = DeviceArray.iterate (@life, 3, double (x > 0.6), "Record", @(u) sum (u(:)));
%! assert (size (r), [1 3]);

%!test  # the end comes by itself
%! f = @(u) 0.5 * u;
%! [u, info] = DeviceArray.iterate (f, 100, DeviceArray (x), "Until", @(u) all (u(:) < 0.1), "Check", 1);
%! assert ({info.Reason, info.Steps}, {"until", 4});
%! assert (gather (u), x / 16);
%! [u, r, info] = DeviceArray.iterate (f, 100, x, "Until", @(u) max (u(:)) < 0.1, "Check", 3, "Record", @(u) max (u(:)));
%! assert ({info.Steps, size(r)}, {6, [1 6]});
%! [~, info] = DeviceArray.iterate (f, 3, x, "Until", @(u) all (u(:) < 0));
%! assert ({info.Reason, info.Steps}, {"steps", 3});

%!test  # pages, columns and tests, however a run ends
%! up = @(u) u + 1;
%! for n = [100 25 1e12]
%!   [S, info] = DeviceArray.iterate (up, n, 0, "Every", 10, "Until", @(u) u >= 25, "Check", 1);
%!   assert ({S, info.Kept, info.Steps, info.Reason}, {[10 20 25], [10 20 25], 25, "until"});
%! endfor
%! [S, info] = DeviceArray.iterate (up, 15, 0, "Every", 10, "Until", @(u) u > 99);
%! assert ({S, info.Kept, info.Reason}, {[10 15], [10 15], "steps"});
%! [S, info] = DeviceArray.iterate (up, 30, 0, "Every", 10, "Until", @(u) u >= 20);
%! assert ({S, info.Kept}, {[10 20], [10 20]});
%! ## Without steps, and where the first one changes the class.
%! [S, R, info] = DeviceArray.iterate (@(u) u / 2, 0, [64; 32; 16], "Every", 2, "Record", @(u) [u(1), u(2)]);
%! assert ({size(S), size(R), size(info.Kept)}, {[3 0], [2 0], [1 0]});
%! [u, R] = DeviceArray.iterate (@(u) u / 2, 0, [true; false], "Record", @(u) sum (u));
%! assert ({u, size(R)}, {[true; false], [1 0]});
%! for start = {[1 1], [true true]}
%!   [S, R, info] = DeviceArray.iterate (@(u) u / 2, 40, start{1}, "Until", @(u) max (u) < 1, "Record", @max, "Every", 4);
%!   assert ({info.Steps, info.Kept, size(S), R}, {10, [4 8 10], [1 2 3], 0.5 .^ (1:10)});
%! endfor
%! ## There is more room as more comes.
%! n = 70000;
%! [S, R, info] = DeviceArray.iterate (up, 1e12, [0; 0], "Until", @(u) u(1) >= n, "Record", @(u) u(2), "Every", 2, "Check", 1);
%! assert ({info.Steps, R, S}, {n, 1:n, repmat(2:2:n, 2, 1)});
%! refused (@() DeviceArray.iterate (up, 1e12, 0, "Record", up), "outOfMemory", "");
%! ## The maximal number of states.
%! [c, o] = deal (num2cell (1:80), cell (1, 80));
%! [o{:}] = DeviceArray.iterate (@(varargin) deal (varargin{[2:end, 1]}), 4, c{:}, "Every", 4);
%! assert (o, num2cell ([5:80, 1:4]));
%! refused (@() DeviceArray.iterate (up, 30, 0, "Until", @(u) u / 0 - u / 0), "until", "after step 10");

%!function u = gathers (u)
%!  u = u + sum (gather (u(:)));
%!endfunction

%!function u = asks (u)
%!  if (all (u(:) > 0))
%!    u = 2 * u;
%!  endif
%!endfunction

%!test  # what cannot be recorded says so, and where
%! assert (! isempty (strfind (refused_step (@gathers, x), "gather")));
%! if (own_type ())
%!   ## An object of the class is false in a condition, whatever it holds.
%!   said = refused_step (@asks, x);
%!   assert (! isempty (strfind (said, "recorded (asks")), "%s", said);
%! endif
%! if (own_type ())
%!   ## An object of the class is false to the host.
%!   said = refused_step (@switches, x);
%!   assert (! isempty (strfind (said, "switches, line 2")) && ! isempty (strfind (said, "merge")), "%s", said);
%! endif
%! ## A step that catches the error is refused, too: the plain loop would go on another way.
%! assert (! isempty (strfind (refused_step (@catches, x), "mask")));
%! if (own_type ())
%!   said = refused_step (@of_the_host, x);
%!   assert (! isempty (strfind (said, "of_the_host, line 2")), "%s", said);
%! endif
%! said = refused_step (@into_ordinary, x);
%! assert (! isempty (strfind (said, "into_ordinary, line 3")) && ! isempty (strfind (said, "[a, b]")), "%s", said);
%! refused_step (@(u) u(2:end,:), x);
%! refused_step (@(u) find (u), x);
%! refused_step (@(u) u(u > 0.5), x);
%! refused_step (@(u) DeviceArray.iterate (@(v) 2 * v, 2, u), x);
%! refused_step (@(u) [u; u], x);
%! assert (! isempty (strfind (refused_step (@(u) double (u) + disp (u), x), "A step cannot be recorded")));

%!function u = prints (u)
%!  printf ("%g", u);
%!endfunction

%!test  # messages say what was given, and a way out that a step has
%! said = {@() DeviceArray.iterate(@(u) 2 * u, 10), "No state was given";
%!         @() DeviceArray.iterate(@(u) 2 * u, 10, x, "abc"), "got 'abc'";
%!         @() DeviceArray.iterate(@(u) 2 * u, 1 + 2i, x), "got 1+2i";
%!         @() DeviceArray.iterate(@(u) 2 * u, {1}, x), "1x1 cell";
%!         @() DeviceArray.iterate(@(u) 2 * u, 3, x, "Progress", NaN), "got NaN";
%!         @() DeviceArray.iterate(@(u, a) a * u, 3, x, "States", 1, "Values", zeros (1, 0)), "1x0";
%!         @() DeviceArray.iterate(@choose, 3, x, 5, true), "'States', 1";
%!         @() DeviceArray.iterate(@(u) {u}, 3, x), "1x1 cell";
%!         @() DeviceArray.iterate(@(u) u, 3, x, "Record", @(u) 1i), "1x1 complex double"};
%! for i = 1:rows (said)
%!   refused (said{i,1}, "", said{i,2});
%! endfor
%! step = DeviceArray.compile (@(u) 2 * u, 1:3);
%! try
%!   [a, b] = step (1:3);
%! catch err
%! end_try_catch
%! assert ({err.identifier, err.message}, {"DeviceArray:option", "DeviceArray: 2 outputs were asked for, and the step gives 1."});
%! for f = {@prints, @(u) u(sum (u(:))), @(u) u * u', @(u) u(u > 0.5)(1), @(u) magic (3)(u)}
%!   said = refused_step (f{1}, x);
%!   assert (isempty (regexp (said, "[gG]ather")), "%s", said);
%! endfor
%! assert (isempty (DeviceArray.iterate (@(u, a) u * a, 0, [], "States", 1, "Values", zeros (1, 0))));

%!error id=DeviceArray:option DeviceArray.iterate (@react, -1, x, y)
%!error id=DeviceArray:option DeviceArray.iterate (@react, 1.5, x, y)
%!error id=DeviceArray:option DeviceArray.iterate ("react", 1, x, y)
%!error id=DeviceArray:option DeviceArray.iterate (@react, 4, x, y, "Evry", 2)
%!error id=DeviceArray:option DeviceArray.iterate (@react, 4, x, y, "Every", 3)
%!error id=DeviceArray:option DeviceArray.iterate (@react, 4, x, y, "Every")
%!error id=DeviceArray:option DeviceArray.iterate (@react, 4, x, y, "States", 3)
%!error id=DeviceArray:option DeviceArray.iterate (@react, 4, x, y, "Record", 3)
%!error id=DeviceArray:option DeviceArray.iterate (@(u, a) u + a, 4, x, "States", 1, "Values", 1:3)
%!error id=DeviceArray:option [a, b, c] = DeviceArray.iterate (@(u) 2 * u, 4, x);
%!error id=DeviceArray:option DeviceArray.compile (@(u) 2 * u, x, "Every", 2)
%!error id=DeviceArray:dataType DeviceArray.iterate (@(u) 2 * u, 4, {1})
%!error <undefined> DeviceArray.iterate (@(u) no_such_function (u), 4, x)

%!test  # nothing is left behind
%! count = DeviceArray_CUDA ("count");
%! step = DeviceArray.compile (@(u) 2 * u, x);
%! step (x);
%! clear step
%! DeviceArray.iterate (@(u) u + 1, 3, x);
%! refused_step (@(u) find (u), x);
%! assert (DeviceArray_CUDA ("count"), count);

%!function varargout = ordered (f, u)
%!  [values, place] = f (u);
%!  varargout{1} = u + 0.25 * values ./ (1 + place);
%!endfunction

%!function [u, place] = deal_max (u)
%!  [~, place] = max (u);
%!endfunction

%!test # a compiled step: fewer outputs, and arrays of other sizes, which the MEX function hands to the class
%! u = DeviceArray (x);
%! step = DeviceArray.compile (@(u, v) deal (u + v, u .* v - 1), u, u);
%! assert (gather (step (u, u)), 2 * x);
%! w = 1:4;
%! for k = 1:3
%!   [a, b] = step (DeviceArray (w), w);
%!   assert ({gather(a), gather(b)}, {2 * w, w .^ 2 - 1});
%!   clear a b
%! end
%! [a, b] = step (w, w);
%! assert ({a, b}, {2 * w, w .^ 2 - 1});
%! fail ("[a, b, c] = step (u, u)", "3 outputs were asked for, and the step gives 2");
%! fail ("step (u)", "The step takes 2 states, and 1 arguments were given");
%!test  # a compiled step goes into iterate
%! [u, v] = deal (DeviceArray (x), DeviceArray (y));
%! step = DeviceArray.compile (@react, u, v);
%! [a, b, info] = DeviceArray.iterate (step, 7, u, v);
%! [c, d, right] = DeviceArray.iterate (@react, 7, u, v);
%! assert (same_bits (gather (a), gather (c)) && same_bits (gather (b), gather (d)));
%! assert ([info.Steps, info.Kernels], [right.Steps, right.Kernels]);
%! ## Calls that ask for more, and other sizes and classes, are recorded again.
%! [a, b, r] = DeviceArray.iterate (step, 4, u, v, "Every", 2, "Record", @(u, v) u(1:2));
%! [c, d, s] = DeviceArray.iterate (@react, 4, u, v, "Every", 2, "Record", @(u, v) u(1:2));
%! assert (same_bits (gather (a), gather (c)) && same_bits (r, s));
%! for given = {{x(1:9,:), y(1:9,:)}, {single(x), single(y)}}
%!   [a, b] = DeviceArray.iterate (step, 3, given{1}{:});
%!   [c, d] = DeviceArray.iterate (@react, 3, given{1}{:});
%!   assert (same_bits (a, c) && same_bits (b, d));
%! endfor
%! ## With constants: the same ones, others, and none.
%! scale = DeviceArray.compile (@(u, h) u * h + x, u, 0.5, "States", 1);
%! for h = [0.5 0.25]
%!   a = DeviceArray.iterate (scale, 3, u, h, "States", 1);
%!   c = DeviceArray.iterate (@(u, h) u * h + x, 3, u, h, "States", 1);
%!   assert (same_bits (gather (a), gather (c)));
%! endfor
%! ## A class that changes in the first step.
%! step = DeviceArray.compile (@life, u > 0.5);
%! assert (gather (DeviceArray.iterate (step, 3, u)), gather (DeviceArray.iterate (@life, 3, u)));

%!test  # running sums, sorts, medians and extremes with their places
%! for u = {x, single(x), x(1,:), round(4 * x)}
%!   if (! takes ("ordered", class (u{1}), size (u{1}))), continue; endif
%!   for f = {@cumsum, @cumprod, @cummax, @cummin, @(u) sort(u), @(u) sort(u, 2, "descend"), @(u) cumsum(u, 2)}
%!     check (@(u) 0.5 * u + 0.5 * f{1} (u), 3, u{1});
%!   endfor
%!   for f = {@median, @(u) median(u, 2), @(u) median(u(:))}
%!     check (@(u) u - 0.5 * f{1} (u), 3, u{1});
%!   endfor
%!   for f = {@max, @min, @sort, @cummax, @(u) max(u, [], 2), @(u) min(u(:)), @(u) sort(u, 2), @(u) sort(u(:,1))}
%!     check (@(u) ordered (f{1}, u), 3, u{1});
%!   endfor
%! endfor
%! ## Places are in double, of singles, too; NaN is left out.
%! [value, place] = DeviceArray.iterate (@(u, p) deal_max (u), 1, DeviceArray (single ([NaN 3 9 9])), DeviceArray (0));
%! assert (gather (value), single ([NaN 3 9 9]));
%! assert (gather (place), 3);

## --- What new users meet

%!function u = running (u)
%!  u = 2 * u;
%!endfunction

%!function u = filled (u)
%!  u = running (u) + 1;
%!endfunction

%!test # a step may have the name of a function that is private to the class
%! assert (DeviceArray.iterate (@running, 2, 1:3), [4 8 12]);
%! assert (DeviceArray.iterate (@filled, 2, 1:3), [7 11 15]);
%! assert (DeviceArray.compile (@running, 1:3) (1:3), [2 4 6]);
%! [~, R] = DeviceArray.iterate (@(u) u + 1, 2, 1:3, 'Record', @running, 'Until', @(u) all (running (u) > 99));
%! assert (R(:).', [4 6 8 6 8 10]);

%!test # constants of an anonymous function: a struct and a cell are none of the states, of arrays 'States' is asked for
%! assert (DeviceArray.iterate (@(u, p, c) u * p.k + c{1}, 2, 1:3, struct ("k", 2), {1}), [7 11 15]);
%! calls = {@() DeviceArray.iterate(@(u, h) ConvolutionConstantMemory_CUDA(u, h), 3, magic (5), ones (3))
%!          @() DeviceArray.compile(@(u, k) running(u + k), 1:3, 0.1)};
%! for call = calls.'
%!   caught = [];
%!   try
%!     call{1} ();
%!   catch caught
%!   end_try_catch
%!   assert (caught.identifier, "DeviceArray:option");
%!   assert (! isempty (strfind (caught.message, "'States', 1")), "%s", caught.message);
%! endfor

%!test # steps without an end but that of 'Until', which gets the states alone, and & for &&
%! [u, info] = DeviceArray.iterate (@(u) u + 1, Inf, 0, 'Until', @(u) u >= 25, 'Check', 1);
%! assert ([u, info.Steps], [25 25]);
%! texts = {@(u) max(u) > 3 && min(u) > 2, "write & and |"; @(u, k) u > k, "gets the states and nothing else"};
%! for i = 1:rows (texts)
%!   caught = [];
%!   try
%!     DeviceArray.iterate (@(u) u + 1, 3, 1:3, 'Until', texts{i,1});
%!   catch caught
%!   end_try_catch
%!   assert (caught.identifier, "DeviceArray:trace");
%!   assert (! isempty (strfind (caught.message, texts{i,2})), "%s", caught.message);
%! endfor
%! fail ("DeviceArray.iterate (@(u) u + 1, Inf, 0)", "whole number");
