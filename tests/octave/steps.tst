## DeviceArray.iterate and DeviceArray.compile: the bits of the plain loop, the options around the loop, and what cannot be
## recorded.

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
%! ## What one number chooses while it is recorded has the size of the larger one.
%! u = DeviceArray.iterate (@(u) merge (all (u(:) > -1), -0, u), 1, x);
%! assert (same_bits (u, -zeros (size (x))));
%! refused (@() DeviceArray.iterate (@(u) merge (any (u(:) > 1), u, single (u)), 2, x), "", "cannot merge");
%! refused (@() DeviceArray.iterate (@(u) merge (any (u(:) > 1), u, u(:)), 2, x), "", "nonconformant");

%!test  # numbers that are computed on the way
%! r = DeviceArray (x);
%! zero = DeviceArray (zeros (size (x)));
%! check (@gradient_step, 7, zeros (size (x)), x, x, sum (r(:) .^ 2));

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
%! ## What names elements in another way is gathered.
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
%! refused_step (@(u) sort (u), x);
%! refused_step (@(u) u(u > 0.5), x);
%! refused_step (@(u) cumsum (u), x);
%! refused_step (@(u) DeviceArray.iterate (@(v) 2 * v, 2, u), x);
%! refused_step (@(u) [u; u], x);
%! assert (! isempty (strfind (refused_step (@(u) double (u) + disp (u), x), "A step cannot be recorded")));

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
%! refused_step (@(u) sort (u), x);
%! assert (DeviceArray_CUDA ("count"), count);
