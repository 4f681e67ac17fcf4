## DeviceArray.rand, randn, randi and rng: numbers by their places, the distributions, and draws inside a step.

## Philox 4x32-10 once more, on the host: element i of draw d under a seed, in double precision.
%!function x = expected (seed, d, count)
%!  x = zeros (count, 1);
%!  for i = 0:count-1
%!    c = uint64 ([i, 0, d, 0]);
%!    key = uint64 ([seed 0]);
%!    for round = 1:10
%!      p = [c(1) * uint64(0xD2511F53), c(3) * uint64(0xCD9E8D57)];
%!      high = bitshift (p, -32);
%!      low = bitand (p, uint64 (0xFFFFFFFF));
%!      c = [bitxor(bitxor (high(2), c(2)), key(1)), low(2), bitxor(bitxor (high(1), c(4)), key(2)), low(1)];
%!      key = bitand (key + uint64 ([0x9E3779B9 0xBB67AE85]), uint64 (0xFFFFFFFF));
%!    endfor
%!    fraction = bitshift (c(1) + bitshift (c(2), 32), -12);
%!    x(i+1) = (double (fraction) + 0.5) * 2 ^ -52;
%!  endfor
%!endfunction

## The largest distance of a sample from a distribution, scaled so that one sample in 10,000 has 2.2.
%!function d = distance (x, cdf)
%!  x = sort (x(:));
%!  n = numel (x);
%!  p = cdf (x);
%!  d = sqrt (n) * max (max ((1:n)' / n - p), max (p - (0:n-1)' / n));
%!endfunction

%!test # each number is known by its place
%! DeviceArray.rng (7);
%! [a, b] = deal (gather (DeviceArray.rand (3, 4)), gather (DeviceArray.rand (5, 1)));
%! assert (a(:), expected (7, 0, 12), 0);
%! assert (b, expected (7, 1, 5), 0);

%!test # the distributions
%! DeviceArray.rng (1);
%! n = 100000;
%! normal = @(x) erfc (-double (x) / sqrt (2)) / 2;
%! for c = {"double", "single"}
%!   u = gather (DeviceArray.rand (n, 1, c{1}));
%!   z = gather (DeviceArray.randn (n, 1, c{1}));
%!   assert ({class(u), class(z)}, {c{1}, c{1}});
%!   assert (distance (double (u), @(x) x) < 2.2);
%!   assert (distance (double (z), normal) < 2.2);
%!   ## Neighbours, and draws, have nothing to do with each other.
%!   for pair = {[z(1:n-1), z(2:n)], [z, gather(DeviceArray.randn (n, 1, c{1}))], [double(u) - 0.5, z]}
%!     r = corrcoef (double (pair{1}));
%!     assert (abs (r(2)) * sqrt (n) < 4);
%!   endfor
%!   assert (all (u > 0 & u < 1));
%! endfor

%!test # whole numbers
%! DeviceArray.rng (2);
%! for c = {"double", "single", "int8", "uint16", "int32"}
%!   i = gather (DeviceArray.randi (6, 100, 60, c{1}));
%!   assert (class (i), c{1});
%!   counts = accumarray (double (i(:)), 1)';
%!   assert (numel (counts) == 6 && all (abs (counts - 1000) < 5 * sqrt (1000)));
%! endfor
%! i = gather (DeviceArray.randi ([-2 2], 1, 1000));
%! assert (unique (i), -2:2);
%! assert (gather (DeviceArray.randi ([3 3])), 3);
%! for bad = {@() DeviceArray.randi (0), @() DeviceArray.randi ([3 2]), @() DeviceArray.randi (1.5), ...
%!            @() DeviceArray.randi (300, 1, 1, "int8"), @() DeviceArray.randi (2 ^ 60)}
%!   try, bad{1} (); error ("no error"); catch e, assert (e.identifier, "DeviceArray:option"); end_try_catch
%! endfor

%!test # sizes, classes and places as of zeros
%! v = DeviceArray (single (ones (2, 3)));
%! for f = {@rand, @randn, @(varargin) randi(9, varargin{:})}
%!   assert (size (f{1} (4, "like", v)), [4 4]);
%!   assert (size (f{1} ([2 0 3], "like", v)), [2 0 3]);
%!   assert (underlyingType (f{1} ("like", v)), "single");
%! endfor
%! for bad = {@() DeviceArray.rand(2, "int8"), @() DeviceArray.randn(2, "logical")}
%!   try, bad{1} (); error ("no error"); catch e, assert (e.identifier, "DeviceArray:dataType"); end_try_catch
%! endfor

%!test # the state
%! DeviceArray.rng ("default");
%! s = DeviceArray.rng;
%! assert (s, struct ("Type", "philox", "Seed", 0, "State", 0));
%! a = gather (DeviceArray.rand (3));
%! t = DeviceArray.rng (5);
%! assert ([t.Seed t.State], [0 1]);
%! b = gather (DeviceArray.rand (3));
%! assert (! isequal (a, b));
%! DeviceArray.rng (s);
%! assert (gather (DeviceArray.rand (3)), a, 0);
%! DeviceArray.rng ("shuffle");
%! for bad = {-1, 2 ^ 32, 0.5, NaN, "other", {1}, struct("Seed", 1)}
%!   try, DeviceArray.rng (bad{1}); error ("no error"); catch e, assert (e.identifier, "DeviceArray:option"); end_try_catch
%! endfor

%!test # in a step each draw is new in each step, with the numbers of the plain loop
%! x = DeviceArray (zeros (20, 9));
%! noise = @(x) 0.9 * x + DeviceArray.randn (20, 9) .* rand (20, 9, "like", x) + DeviceArray.rand ();
%! blur = @(x) ConvolutionConstantMemory_CUDA (x + 0.1 * rand (20, 9, "like", x), ones (3) / 9);
%! counts = @(x) x + randi (9, 20, 9, "like", x) + mean (DeviceArray.rand (7, 1));
%! for f = {noise, blur, counts}
%!   for n = [1 5]
%!     DeviceArray.rng (4);
%!     y = x;
%!     for k = 1:n, y = f{1} (y); endfor
%!     after = DeviceArray.rng;
%!     DeviceArray.rng (4);
%!     z = DeviceArray.iterate (f{1}, n, x);
%!     assert (gather (z), gather (y), 0);
%!     assert (DeviceArray.rng, after);
%!     DeviceArray.rng (4);
%!     step = DeviceArray.compile (f{1}, x);
%!     assert (DeviceArray.rng ().State, 0);
%!     z = x;
%!     for k = 1:n, z = step (z); endfor
%!     assert (gather (z), gather (y), 0);
%!   endfor
%! endfor
%! ## Under another seed the same step has other numbers.
%! DeviceArray.rng (9);
%! other = step (x);
%! DeviceArray.rng (9);
%! assert (gather (other), gather (counts (x)), 0);

%!test # beside values, records, kept states and an end
%! x = DeviceArray (zeros (30, 1));
%! f = @(x, s) x + s * DeviceArray.randn (30, 1);
%! options = {"Values", 1:8, "Record", @(x) x(1:2), "Every", 2, "Until", @(x) all (x > 1e9), "Check", 3};
%! DeviceArray.rng (6);
%! [z, r, info] = DeviceArray.iterate (f, 8, x, options{:});
%! DeviceArray.rng (6);
%! y = x;
%! for k = 1:8
%!   y = f (y, k);
%!   assert (r(:,k), gather (y(1:2)), 0);
%!   if (mod (k, 2) == 0), assert (gather (z)(:,k/2), gather (y), 0); endif
%! endfor
%! assert (DeviceArray.rng ().State, 8);

%!test # the host's own numbers in a step give a warning, and no error
%! x = DeviceArray (zeros (4));
%! for f = {@() rand(4), @() randn(4), @() randi(3, 4), @() reshape(randperm (16), 4, 4)}
%!   lastwarn ("", "");
%!   DeviceArray.iterate (@(x) x + f{1} (), 2, x);
%!   [~, id] = lastwarn ();
%!   assert (id, "DeviceArray:random");
%! endfor
%! lastwarn ("", "");
%! DeviceArray.iterate (@(x) x + DeviceArray.rand (4), 2, x);
%! assert (isempty (lastwarn ()));

%!test # a step that fails leaves no recording behind that draws
%! x = DeviceArray (zeros (4));
%! try, DeviceArray.iterate (@(x) x + DeviceArray.rand (4) + error ("mine:own", "no"), 2, x); catch, end_try_catch
%! DeviceArray.rng (3);
%! assert (gather (DeviceArray.rand (2, 1)), expected (3, 0, 2), 0);
