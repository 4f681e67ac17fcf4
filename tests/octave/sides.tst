## Boundaries of each side, and 'mirror'. Each is compared with an array that was padded first.

%!function y = pad (x, dim, reach, low, high)
%!  ## x, extended along a dimension; the words are those of the option.
%!  before = zeros (1, dim);
%!  before(dim) = reach;
%!  y = extended (x, before, [repmat({0}, 1, dim - 1), {{low, high}}]);
%!endfunction

%!shared pairs
%! pairs = {{"mirror", "mirror"}, {0, 1}, {"mirror", 2}, {-3, "mirror"}, {"replicate", 0}, {1, "symmetric"}, ...
%!          {"symmetric", "mirror"}, {"mirror", "replicate"}, {"circular", "circular"}, {NaN, Inf}};

%!test # the stencil, along any dimension, lines shorter than the filter, too
%! for p = pairs
%!   for n = [1 2 3 4 7 40 300]
%!     for m = [1 3 7 21]
%!       k = cos (1:m) / m;
%!       x = rand (n, 3) - 0.5;
%!       want = StencilConstantMemory_CUDA (pad (x, 1, (m - 1) / 2, p{1}{:}), k, "Dim", 1, "Shape", "valid");
%!       assert (isequaln (StencilConstantMemory_CUDA (x, k, "Dim", 1, "Boundary", p{1}), want));
%!       assert (isequaln (StencilConstantMemory_CUDA (x.', k, "Dim", 2, "Boundary", p{1}), want.'));
%!       held = gather (StencilConstantMemory_CUDA (DeviceArray (x), k, "Dim", 1, "Boundary", p{1}));
%!       assert (isequaln (held, want));
%!     endfor
%!   endfor
%! endfor

%!test # every sweep pads anew
%! x = rand (30, 1);
%! k = [1 2 1] / 4;
%! for p = pairs(1:end-1)
%!   want = x;
%!   for i = 1:5
%!     want = StencilConstantMemory_CUDA (pad (want, 1, 1, p{1}{:}), k, "Shape", "valid");
%!   endfor
%!   assert (StencilConstantMemory_CUDA (x, k, "Boundary", p{1}, "Iterations", 5), want);
%! endfor

%!test # the derivative, in both classes
%! for p = pairs
%!   for n = [1 2 5 9 50]
%!     x = rand (n, 2);
%!     inside = 4 + (1:n);
%!     want = DerivativeConstantMemory_CUDA (pad (x, 1, 4, p{1}{:}), 0.1, "Dim", 1)(inside,:);
%!     assert (isequaln (DerivativeConstantMemory_CUDA (x, 0.1, "Dim", 1, "Boundary", p{1}), want));
%!     want = DerivativeConstantMemory_CUDA (single (pad (single (x), 1, 4, p{1}{:})), 0.1, "Dim", 1)(inside,:);
%!     assert (isequaln (DerivativeConstantMemory_CUDA (single (x), 0.1, "Dim", 1, "Boundary", p{1}), want));
%!   endfor
%! endfor

%!test # the convolution: one dimension is padded after the other, so at a corner the later one counts
%! F = reshape (sin (1:15), 5, 3) / 9;
%! for p = pairs
%!   for q = pairs
%!     for kind = {"double", "single"}
%!       N = cast (rand (6, 5) - 0.5, kind{1});
%!       padded = pad (pad (N, 1, 2, p{1}{:}), 2, 1, q{1}{:});
%!       want = ConvolutionConstantMemory_CUDA (padded, F, "valid");
%!       got = ConvolutionConstantMemory_CUDA (N, F, "Boundary", {p{1}, q{1}});
%!       assert (isequaln (got, want) && strcmp (class (got), class (want)));
%!       assert (isequaln (gather (ConvolutionConstantMemory_CUDA (DeviceArray (N), F, "Boundary", {p{1}, q{1}})), want));
%!     endfor
%!   endfor
%! endfor

%!test # a volume, an image of integers, outputs of other shapes
%! V = rand (4, 5, 3);
%! F = reshape (cos (1:27), 3, 3, 3) / 27;
%! padded = pad (pad (pad (V, 1, 1, "circular", "circular"), 2, 1, 0, "mirror"), 3, 1, 7, 7);
%! want = ConvolutionConstantMemory_CUDA (padded, F, "valid");
%! assert (ConvolutionConstantMemory_CUDA (V, F, "Boundary", {"circular", {0, "mirror"}, 7}), want);
%! N = uint8 (255 * rand (7, 6));
%! padded = pad (pad (N, 1, 1, "mirror", "mirror"), 2, 1, "replicate", "symmetric");
%! want = ConvolutionConstantMemory_CUDA (padded, F(:,:,1), "valid");
%! assert (ConvolutionConstantMemory_CUDA (N, F(:,:,1), "Boundary", {"mirror", {"replicate", "symmetric"}}), want);
%! padded = pad (pad (V(:,:,1), 1, 2, 1, "mirror"), 2, 2, "mirror", 2);
%! want = ConvolutionConstantMemory_CUDA (padded, F(:,:,1), "valid");
%! for x = {V(:,:,1), DeviceArray(V(:,:,1))}
%!   got = ConvolutionConstantMemory_CUDA (x{1}, F(:,:,1), "full", "Boundary", {{1, "mirror"}, {"mirror", 2}});
%!   assert (double (gather (DeviceArray (got))), want);
%! endfor
%! padded = pad (V(:,1,1), 1, 2, -1, "mirror");
%! want = StencilConstantMemory_CUDA (padded, [1 2 3], "Shape", "valid");
%! assert (StencilConstantMemory_CUDA (V(:,1,1), [1 2 3], "Shape", "full", "Boundary", {-1, "mirror"}), want);

%!test # what is no boundary says what one is
%! N = magic (4);
%! for value = {{0}, {0, 1, 2}, {}, {{0, 1, 2}, 1}, {{{0}}, 1}, {0, "circula"}, {"circular", {0, "circular"}}}
%!   text = fails ("ConvolutionConstantMemory_CUDA", "option", {N, 1, "Boundary", value{1}});
%!   assert (! isempty (strfind (text, "Boundary")), text);
%! endfor
%! text = fails ("StencilConstantMemory_CUDA", "option", {1:9, 1, "Boundary", {"circular", 0}});
%! assert (! isempty (strfind (text, "both ends")), text);
%! text = fails ("ConvolutionConstantMemory_CUDA", "option", {ones(2, 2, 2), 1, "Boundary", {0, 1, 2, 3}});
%! assert (! isempty (strfind (text, "there are 3")), text);
