## Several filters a sweep, two time levels, sources, and states on the way. Each is compared with calls in turn.

%!shared S, C, k1, k2, k3, x, X, V
%! S = @StencilConstantMemory_CUDA;
%! C = @ConvolutionConstantMemory_CUDA;
%! [k1, k2, k3] = deal ([1 2 1] / 4, [1; -3; 5; 2; 1] / 12, 0.5);
%! [x, X, V] = deal (rand (37, 1) - 0.5, rand (9, 12) - 0.5, rand (5, 6, 4) - 0.5);

%!function [u, older] = levels (step, u, older, weight, source, count)
%!  ## Computes the options' results, call by call. The product is fused with the sum: for doubles whose product is
%!  ## exact both are the same.
%!  for i = 1:count
%!    next = step (u);
%!    if (! isempty (weight))
%!      next = next + weight * older;
%!    endif
%!    if (! isempty (source))
%!      next = next + source;
%!    endif
%!    older = u;
%!    u = next;
%!  endfor
%!endfunction

%!test # filters in a row are calls in turn
%! for n = [0 1 2 5]
%!   want = x;
%!   for i = 1:n
%!     want = S (S (S (want, k1), k2), k3);
%!   endfor
%!   assert (S (x, {k1, k2, k3}, "Iterations", n), want);
%!   assert (S (x.', {k1, k2; k3, 1}, "Iterations", 0), x.');
%!   assert (gather (S (DeviceArray (x), {k1, k2, k3}, "Iterations", n)), want);
%! endfor

%!test # each along its dimension, with a boundary of its own where 'Dim' is given
%! want = S (S (S (V, k1, "Dim", 1), k2, "Dim", 2), k3, "Dim", 3);
%! assert (S (V, {k1, k2, k3}, "Dim", [1 2 3]), want);
%! assert (S (V, {k1, k2, k3}, "Dim", uint8 ([1; 2; 3])), want);
%! bounds = {"mirror", {0, 2}, "circular"};
%! want = S (S (V, k1, "Dim", 3, "Boundary", bounds{1}), k2, "Dim", 1, "Boundary", bounds{2});
%! want = S (want, k1, "Dim", 2, "Boundary", bounds{3});
%! assert (S (V, {k1, k2, k1}, "Dim", [3 1 2], "Boundary", bounds), want);
%! ## A pair is one boundary for all of them, unless the number of filters equals its number of entries.
%! pair = @(u, k, dim) S (u, k, "Dim", dim, "Boundary", {3, 4});
%! assert (S (V, {k1, k2, k1}, "Dim", [1 2 3], "Boundary", {3, 4}), pair (pair (pair (V, k1, 1), k2, 2), k1, 3));
%! assert (S (V, {k1, k2}, "Dim", [1 2], "Boundary", {{3, 4}, {3, 4}}), pair (pair (V, k1, 1), k2, 2));
%! want = S (S (V, k1, "Dim", 1, "Boundary", 3), k2, "Dim", 2, "Boundary", 4);
%! assert (S (V, {k1, k2}, "Dim", [1 2], "Boundary", {3, 4}), want);
%! want = S (S (x, k1, "Boundary", {3, 4}), k2, "Boundary", {3, 4});
%! assert (S (x, {k1, k2}, "Boundary", {3, 4}), want);

%!test # filters of the convolution in a row, with imfilter's words, in every class
%! [F, G] = deal (magic (3) / 45, reshape (1:15, 3, 5) / 120);
%! for N = {X, single(X), DeviceArray(X)}
%!   sweep = @(u) C (C (u, F, "replicate", "conv"), G, "replicate", "conv");
%!   want = sweep (sweep (N{1}));
%!   got = C (N{1}, {F, G}, "replicate", "conv", "Iterations", 2);
%!   assert (class (got), class (want));
%!   if (isa (got, "DeviceArray")), [got, want] = deal (gather (got), gather (want)); endif
%!   assert (got, want);
%! endfor
%! ## Sweeps of integers and truth values are computed in double, and rounded once each.
%! for N = {uint8(200 * (X + 0.5)), X > 0, int8(100 * X)}
%!   want = N{1};
%!   for sweep = 1:2
%!     want = C (C (double (want), F, "replicate", "conv"), G, "replicate", "conv");
%!     if (islogical (N{1})), want = round (want) != 0; else, want = cast (want, class (N{1})); endif
%!   endfor
%!   assert (C (N{1}, {F, G}, "replicate", "conv", "Iterations", 2), want);
%! endfor
%! H = ones (3) / 9;
%! N = uint8 (100 * ones (5));
%! assert (C (N, {H, H, H}, 7), uint8 (C (C (C (double (N), H, 7), H, 7), H, 7)));
%! got = C (X, {F, single(G)});
%! assert (got, C (C (single (X), single (F)), single (G)));
%! assert (C (V, {ones(3, 3, 3) / 27, F}), C (C (V, ones (3, 3, 3) / 27), F));

%!test # two time levels: new = F * u + c * uOld
%! old = round (64 * rand (37, 1)) / 64;
%! now = round (64 * rand (37, 1)) / 64;
%! step = @(u) S (u, k1, "Boundary", "mirror");
%! for n = [1 2 3 7]
%!   [want, older] = levels (step, now, old, -1, [], n);
%!   [u, v] = S (now, k1, "Boundary", "mirror", "Previous", old, "Weight", -1, "Iterations", n);
%!   assert (u, want); assert (v, older);
%!   assert (S (now, k1, "Boundary", "mirror", "Previous", old, "Weight", -1, "Iterations", n), want);
%!   options = {"Boundary", "mirror", "Weight", -1, "Iterations", n};
%!   [u, v] = S (DeviceArray (now), k1, "Previous", DeviceArray (old), options{:});
%!   assert (gather (u), want); assert (gather (v), older);
%! endfor
%! ## A run goes on where it was left.
%! [u, v] = S (now, k1, "Previous", old, "Weight", -0.5, "Iterations", 3);
%! [u, v] = S (u, k1, "Previous", v, "Weight", -0.5, "Iterations", 4);
%! [want, older] = S (now, k1, "Previous", old, "Weight", -0.5, "Iterations", 7);
%! assert (u, want); assert (v, older);

%!test # ... of images, in single, by several filters, with a source
%! F = [0 1 0; 1 -4 1; 0 1 0] / 8 + [0 0 0; 0 1 0; 0 0 0];
%! for kind = {"double", "single"}
%!   [now, old] = deal (cast (round (8 * X) / 8, kind{1}), cast (round (8 * X(end:-1:1,:)) / 8, kind{1}));
%!   s = cast (round (16 * X) / 64, kind{1});
%!   [want, older] = levels (@(u) C (u, F, "Boundary", {0, "circular"}), now, old, -1, s, 3);
%!   [u, v] = C (now, F, "Boundary", {0, "circular"}, "Previous", old, "Weight", -1, "Source", s, "Iterations", 3);
%!   assert (u, want); assert (v, older); assert (class (u), kind{1});
%! endfor
%! [now, old] = deal (round (8 * X) / 8, round (8 * X(end:-1:1,:)) / 8);
%! [want, older] = levels (@(u) S (S (u, k1, "Dim", 1), k1, "Dim", 2), now, old, -1, 0.25, 2);
%! [u, v] = S (now, {k1, k1}, "Dim", [1 2], "Previous", old, "Weight", -1, "Source", 0.25, "Iterations", 2);
%! assert (u, want); assert (v, older);

%!test # the product with the older level is fused with the sum
%! e = 2 ^ -27;
%! [u, v] = S (-1, 1, "Previous", 1 + e, "Weight", 1 - e);
%! assert (u, -(e * e)); assert (v, -1);

%!test # a source is added behind the last filter, in every sweep
%! s = rand (37, 1);
%! for source = {s, 2, single(0.1), true, int8(-3)}
%!   want = levels (@(u) S (S (u, k1), k2), x, [], [], double (source{1}), 3);
%!   assert (S (x, {k1, k2}, "Source", source{1}, "Iterations", 3), want);
%! endfor
%! want = levels (@(u) S (u, k1), x, [], [], s, 3);
%! ## An ordinary array goes where the other one is.
%! for added = {DeviceArray(s), s}
%!   assert (gather (S (DeviceArray (x), k1, "Source", added{1}, "Iterations", 3)), want);
%! endfor
%! ## Without a source nothing is added: a zero keeps its sign.
%! assert (1 / S (-0, -1, "Previous", -0, "Weight", 1), Inf);

%!test # many sweeps, of which a GPU makes kernels, have the bits of a few and a few
%! B = rand (4, 5, 3, 2) - 0.5;
%! cases = {S, x, {k1}, {"Boundary", "mirror"}
%!          S, x, {{k1, k2}}, {"Boundary", {1, "replicate"}}
%!          S, X, {k2}, {"Dim", 2}
%!          S, single(V), {ones(1, 6) / 7}, {"Dim", 3, "Boundary", "circular"}
%!          C, X, {k2 * k1}, {"Boundary", {"symmetric", {0.5, -1}}}
%!          C, single(X), {{k1, k2 * k1}}, {}
%!          C, X, {rand(13) / 169}, {"Boundary", 0.25}
%!          C, V, {rand(3, 2, 3) / 18}, {"Boundary", "mirror"}
%!          C, B, {rand(3, 3, 3) / 27}, {"Boundary", "circular"}};
%! for row = cases.'
%!   [f, u, filter, options] = row{:};
%!   for extra = {{"Weight", -0.5}, {"Weight", -0.5, "Source", u / 8}, {"Source", 0.125}, {"Source", u / 8}}
%!     call = @(u, v, n, varargin) f (u, filter{1}, options{:}, extra{1}{:}, "Iterations", n, varargin{:});
%!     if (strcmp (extra{1}{1}, "Weight"))
%!       call = @(u, v, n, varargin) f (u, filter{1}, options{:}, "Previous", v, extra{1}{:}, "Iterations", n, varargin{:});
%!       [a, b] = call (u, -u, 5);
%!       [a, b] = call (a, b, 6);
%!       [c, d] = call (u, -u, 11);
%!       assert (d, b);
%!     else
%!       a = call (call (u, [], 5), [], 6);
%!       c = call (u, [], 11);
%!     endif
%!     assert (c, a);
%!     states = call (u, -u, 12, "Every", 3);
%!     assert (states(numel (u)+1:2*numel (u)), call (u, -u, 6)(:).');
%!   endfor
%! endfor

%!test # without sweeps both levels come back
%! [u, v] = S (x, k1, "Previous", x.^2, "Weight", 3, "Source", 1, "Iterations", 0);
%! assert (u, x); assert (v, x.^2);
%! assert (S (x, {k1, k2}, "Iterations", 0), x);

%!test # states on the way lie along one more dimension
%! F = ones (3) / 9;
%! want = [S(x, k1, "Iterations", 2), S(x, k1, "Iterations", 4), S(x, k1, "Iterations", 6)];
%! assert (S (x, k1, "Iterations", 6, "Every", 2), want);
%! assert (gather (S (DeviceArray (x), k1, "Iterations", 6, "Every", 2)), want);
%! assert (S (x.', k1, "Iterations", 6, "Every", 2), reshape (want, 1, 37, 3));
%! assert (S (x, k1, "Iterations", 6, "Every", 6), want(:,3));
%! want = cat (3, C (X, F), C (X, F, "Iterations", 2));
%! assert (C (X, F, "Iterations", 2, "Every", 1), want);
%! assert (gather (C (DeviceArray (X), F, "Iterations", 2, "Every", 1)), want);
%! assert (C (V, F, "Iterations", 2, "Every", 1), cat (4, C (V, F), C (V, F, "Iterations", 2)));
%! assert (size (S (x, k1, "Iterations", 0, "Every", 3)), [37 0]);
%! assert (size (S (zeros (0, 3), k1, "Iterations", 4, "Every", 2)), [0 3 2]);
%! [u, v] = S (x, k1, "Previous", x, "Weight", -1, "Source", 1, "Iterations", 4, "Every", 2);
%! [a, b] = S (x, k1, "Previous", x, "Weight", -1, "Source", 1, "Iterations", 2);
%! [c, d] = S (a, k1, "Previous", b, "Weight", -1, "Source", 1, "Iterations", 2);
%! assert (u, [a c]); assert (v, d);

%!test # lists that are none, and what is wrong in one
%! for k = {{}, {'a'}, {k1, 'a'}, {k1, int8(k1)}, {k1, {k1}}, {k1, 1i}}
%!   fails ("StencilConstantMemory_CUDA", "dataType", {x, k{1}});
%! endfor
%! for F = {{}, {'a'}, {1, 'a'}, {1, {1}}, {1, int8(1)}}
%!   fails ("ConvolutionConstantMemory_CUDA", "dataType", {X, F{1}});
%! endfor
%! ## The class of each is looked at before the size of any.
%! fails ("StencilConstantMemory_CUDA", "dataType", {x, {[], 'a'}});
%! fails ("StencilConstantMemory_CUDA", "option", {x, 1, "Dim", 1, "Source", 1, "Boundary", {0}});
%! text = fails ("StencilConstantMemory_CUDA", "kernelLength", {x, {k1, [], k2}});
%! assert (! isempty (strfind (text, "kernelArray{2}")), text);
%! text = fails ("StencilConstantMemory_CUDA", "kernelLength", {x, {k1, 1:8192}});
%! assert (! isempty (strfind (text, "kernelArray{2} is 1x8192")), text);
%! text = fails ("StencilConstantMemory_CUDA", "dataType", {x, repmat({1}, 1, 65)});
%! assert (! isempty (strfind (text, "at most 64 filters")), text);
%! assert (S (x, repmat ({1}, 1, 64)), x);
%! text = fails ("ConvolutionConstantMemory_CUDA", "dataType", {X, repmat({1}, 5, 13)});
%! assert (! isempty (strfind (text, "at most 64 filters")), text);
%! text = fails ("StencilConstantMemory_CUDA", "kernelShape", {x, {k1, k2, ones(3)}});
%! assert (! isempty (strfind (text, "kernelArray{3}")), text);
%! text = fails ("ConvolutionConstantMemory_CUDA", "filterSize", {X, {1, ones(91)}});
%! assert (! isempty (strfind (text, "F{2} is")) && ! isempty (strfind (text, "91x91")), text);
%! fails ("StencilConstantMemory_CUDA", "option", {x, {k1, k2}, "Dim", [1 2 3]});
%! fails ("StencilConstantMemory_CUDA", "option", {x, {k1, k2}, "Dim", 1});
%! fails ("StencilConstantMemory_CUDA", "option", {x, {k1, k2}, "Dim", [1 1.5]});
%! fails ("StencilConstantMemory_CUDA", "option", {x, {k1, k2}, "Shape", "full"});
%! fails ("ConvolutionConstantMemory_CUDA", "option", {X, {1, 1}, "valid"});

%!test # levels that do not go together
%! f = "StencilConstantMemory_CUDA";
%! fails (f, "option", {x, k1, "Previous", x});
%! fails (f, "option", {x, k1, "Weight", 1});
%! for w = {"a", [1 2], [], 1i, {1}, sparse(1)}
%!   fails (f, "option", {x, k1, "Previous", x, "Weight", w{1}});
%! endfor
%! for p = {x.', x(1:3), single(x), int8(x), 1, "a", {x}, sparse(x), complex(x, 0), DeviceArray(x), [], @sin}
%!   text = fails (f, "option", {x, k1, "Previous", p{1}, "Weight", 1});
%!   assert (! isempty (strfind (text, "37x1 double")), text);
%! endfor
%! for s = {x.', x(1:3), single(x), int8(x), "a", {1}, sparse(1), 1i, DeviceArray(x), [], @sin}
%!   fails (f, "option", {x, k1, "Source", s{1}});
%! endfor
%! for m = {0, 4, -1, 1.5, "a", [1 2], NaN}
%!   fails (f, "option", {x, k1, "Iterations", 6, "Every", m{1}});
%! endfor
%! fails (f, "option", {x, k1, "Every", 1, "Shape", "full"});
%! for option = {{"Previous", uint8(X), "Weight", 1}, {"Source", 1}, {"Every", 1}}
%!   fails ("ConvolutionConstantMemory_CUDA", "option", [{uint8(X), 1}, option{1}]);
%! endfor

%!test # two outputs go with two levels, and three with nothing
%! f = "StencilConstantMemory_CUDA";
%! for call = {{x, k1}, {x, k1, "Source", 1}, {x, k1, "Every", 1}, {x, k1, "Progress", false}, {x, {k1, k2}}}
%!   fails (f, "numberOfOutputs", call{1}, 2);
%! endfor
%! fails (f, "numberOfOutputs", {x, k1, "Previous", x, "Weight", 1}, 3);
%! fails ("ConvolutionConstantMemory_CUDA", "numberOfOutputs", {X, 1, "pre", X, "we", 1}, 3);

%!test # names that came later need letters enough, and leave those of before alone
%! assert (S (x, k1, "pr", false), S (x, k1));
%! assert (S (x, k1, "s", "valid"), S (x, k1, "Shape", "valid"));
%! assert (S (x, k1, "so", 1, "e", 1), S (x, k1) + 1);
%! [u, v] = S (x, k1, "prev", x, "w", 2);
%! assert (v, x);
%! fails ("StencilConstantMemory_CUDA", "option", {x, k1, "sources", 1});

%!test # empty arrays
%! [u, v] = S (zeros (0, 3), {k1, k2}, "Previous", zeros (0, 3), "Weight", 1, "Source", zeros (0, 3));
%! assert (size (u), [0 3]); assert (size (v), [0 3]);
%! assert (size (C ([], {1, 1})), [0 0]);
