## Complex arrays of the host under real filters, in all three functions: each part by itself, to the bit. Unsupported
## combinations are in errors.tst.

## --- The stencil -------------------------------------------------------------------

%!test # each part by itself, with every option
%! z = complex (noise (1, 20, 6, 2), noise (2, 20, 6, 2));
%! for k = {[1 -2 1], noise(3, 1, 4), noise(4, 21, 1), noise(5, 1, 33), single(noise (6, 1, 5))}
%!   for o = {{}, {"Boundary", "circular"}, {"Boundary", 2}, {"Boundary", {"mirror", 1}}, {"Dim", 2}, {"Dim", 5}, ...
%!            {"Shape", "full", "Boundary", "symmetric"}, {"Shape", "valid", "Dim", 1}, {"Shape", "full", "Dim", 4}, ...
%!            {"Iterations", 0}, {"Iterations", 3, "Dim", 3}}
%!     if (takes ("stencil", numel (k{1}), o))
%!       agrees (z, k{1}, o{1}{:});
%!       agrees (single (z), k{1}, o{1}{:});
%!     endif
%!   endfor
%!   y = StencilConstantMemory_CUDA (z, k{1}, "conv", "replicate");
%!   assert (same_bits (y, fma_stencil (z, k{1}(end:-1:1), "Boundary", "replicate")));
%! endfor

%!test # lists and states of complex arrays
%! S = @StencilConstantMemory_CUDA;
%! z = complex (noise (1, 20, 6), noise (2, 20, 6));
%! parts = @(k, varargin) complex (S (real (z), k, varargin{:}), S (imag (z), k, real_sides (varargin){:}));
%! for given = {{{[1 2 1], noise(3, 1, 4)}}, {{noise(4, 1, 30), [1 2 1]}, "Dim", [2 1], "Boundary", {{0, "mirror"}, "circular"}}, ...
%!                  {{[1 2 1], single(0.1)}, "Iterations", 3}, {[1 2 1], "Iterations", 6, "Every", 2}, ...
%!                  {{[1 1], 2}, "Iterations", 4, "Every", 1, "Boundary", "replicate"}, {1:30, "Iterations", 0, "Every", 3}, ...
%!                  {[1 2 1], "Progress", true, "Backend", "cpu"}}
%!   y = S (z, given{1}{:});
%!   want = parts (given{1}{:});
%!   assert (size (y), size (want));
%!   assert (isempty (want) || same_bits (y, want));
%! endfor
%! assert (size (S (z(:,1), [1 2 1], "Iterations", 6, "Every", 2)), [20 3]);

%!test # a number as the boundary is a real one, as it is where it is padded
%! z = complex ([1 2 3], [4 5 6]);
%! assert (StencilConstantMemory_CUDA (z, [1 1 1], "Boundary", 10), conv ([10, z, 10], [1 1 1], "valid"));
%! assert (StencilConstantMemory_CUDA (z, [1 1 1], "Boundary", {10, "replicate"}), conv ([10, z, z(3)], [1 1 1], "valid"));
%! assert (ConvolutionConstantMemory_CUDA (z, [1 1 1], 10, "full"), conv ([10 10, z, 10 10], [1 1 1], "valid"));
%! assert (ConvolutionConstantMemory_CUDA (z, [1; 1; 1], "Boundary", {{10, -3}, 0}), z + 7);
%! d = DerivativeConstantMemory_CUDA (z, 1, "Boundary", 10);
%! assert (d, complex (DerivativeConstantMemory_CUDA (real (z), 1, "Boundary", 10), DerivativeConstantMemory_CUDA (imag (z), 1)));
%! assert (isnan (imag (StencilConstantMemory_CUDA (z, [1 1 1], "Boundary", NaN))), false (1, 3));

%!test # parts without numbers: nothing goes from one to the other; empty arrays
%! S = @StencilConstantMemory_CUDA;
%! y = S (complex ([1 2 3], [0 Inf NaN]), [0 1 0]);
%! assert (real (y), [1 2 3]);
%! assert (imag (y), [NaN NaN NaN]);
%! y = S (complex ([1 2 3 4], [0 0 Inf 1]), [1 1]);
%! assert (real (y), [3 5 7 4]);
%! assert (imag (y), [0 Inf Inf 1]);
%! ## Without imaginary parts Octave makes it real.
%! assert (S (complex (1:4, 0), [1 2 3]), [8 14 20 11]);
%! for dims = {[0 0], [0 3], [2 0 3]}
%!   for type = {"double", "single"}
%!     y = S (complex (zeros (dims{1}, type{1}), 0), [1 2]);
%!     assert (isa (y, type{1}) && isequal (size (y), dims{1}));
%!     y = S (complex (zeros (dims{1}, type{1}), 0), 1:30, "Shape", "full", "Dim", 2);
%!     assert (isa (y, type{1}) && isequal (size (y), dims{1} + (dims{1} > 0 & [false true false](1:numel (dims{1}))) * 29));
%!   endfor
%! endfor

%!test # longer than a piece of work, and very many short columns
%! n = {2e6, 2e5}{1 + is_small ()};
%! z = complex (mod (1:n, 1013), mod (1:n, 911));
%! y = StencilConstantMemory_CUDA (z, [1 2 3 4]);
%! assert (isequal (y, complex (StencilConstantMemory_CUDA (real (z), [1 2 3 4]), StencilConstantMemory_CUDA (imag (z), [1 2 3 4]))));
%! assert (y(2:3), [real(y(2:3)) + 1i * imag(y(2:3))]);
%! assert (y(2), 1 * z(1) + 2 * z(2) + 3 * z(3) + 4 * z(4));
%! z = reshape (z(1:2e4), 2, []);
%! assert (isequal (StencilConstantMemory_CUDA (z, [1 2 3]), conv2 (z, [3; 2; 1], "same")));

## --- The convolution ---------------------------------------------------------------

%!test # each part by itself, with every option
%! ok = @(varargin) agrees_with (@fma_convolution, "ConvolutionConstantMemory_CUDA", varargin);
%! z = complex (noise (1, 9, 11, 4), noise (2, 9, 11, 4));
%! for F = {[1 -2; 3 4], noise(3, 3, 5), noise(4, 1, 22), noise(5, 2, 3, 4), single(noise (6, 3, 3)), noise(7, 16, 17)}
%!   for o = {{}, {"Boundary", "circular"}, {"Boundary", 2}, {"Boundary", "mirror", "Shape", "full"}, {"Shape", "valid"}, ...
%!            {"Iterations", 0}, {"Iterations", 3}}
%!     if (takes ("convolution", size (F{1}), o))
%!       ok (z, F{1}, o{1}{:});
%!       ok (single (z), F{1}, o{1}{:});
%!     endif
%!   endfor
%!   ok (z(:,:,1), F{1});
%!   ok (z(1,:,1), F{1}, "Boundary", "replicate");
%! endfor
%! ## Volumes behind each other.
%! z = complex (noise (1, 5, 6, 4, 3), noise (2, 5, 6, 4, 3));
%! for o = {{}, {"Shape", "full"}, {"Shape", "valid"}, {"Iterations", 2, "Boundary", "circular"}}
%!   ok (z, noise (3, 3, 2, 3), o{1}{:});
%!   ok (z, noise (3, 3, 2), o{1}{:});
%! endfor

%!test # words, lists, states, a boundary for each side: as two calls give it
%! C = @ConvolutionConstantMemory_CUDA;
%! z = complex (noise (1, 12, 7), noise (2, 12, 7));
%! parts = @(F, varargin) complex (C (real (z), F, varargin{:}), C (imag (z), F, real_sides (varargin){:}));
%! for given = {{{[1 2; 3 4], noise(3, 3)}}, {{noise(4, 1, 30), single(0.1)}, "Iterations", 3, "Boundary", "circular"}, ...
%!              {noise(5, 4, 3)}, {noise(5, 4, 3), "Boundary", 2}, ...
%!              {ones(3), "Boundary", {{1, "mirror"}, "circular"}}, {ones(2) / 4, "Iterations", 6, "Every", 3}, ...
%!              {ones(3), "Progress", true, "Backend", "cpu"}}
%!   y = C (z, given{1}{:});
%!   assert (same_bits (y, parts (given{1}{:})));
%! endfor
%! assert (size (C (z, ones (2), "Iterations", 6, "Every", 2)), [12 7 3]);
%! F = noise (5, 4, 3);
%! assert (same_bits (C (z, F, "conv", "full", "replicate"), parts (rot90 (F, 2), "Boundary", "replicate", "Shape", "full")));
%! assert (same_bits (C (z, F, 2.5, "valid"), parts (F, "Shape", "valid")));
%! assert (same_bits (C (z, F, 2.5), parts (F, "Boundary", 2.5)));

%!test # conv2 and convn, to rounding; complex filters as two real ones
%! C = @ConvolutionConstantMemory_CUDA;
%! z = complex (magic (6), magic (6).');
%! F = [1 2 3; 4 5 6];
%! for shape = {"same", "full", "valid"}
%!   assert (C (z, F, "conv", shape{1}), conv2 (z, F, shape{1}));
%!   ## The advice in the error's text works.
%!   G = F + 1i * fliplr (F);
%!   assert (C (z, real (G), "conv", shape{1}) + 1i * C (z, imag (G), "conv", shape{1}), conv2 (z, G, shape{1}));
%! endfor
%! ## A spectrum, smoothed.
%! s = fft ((1:16) .^ 2);
%! assert (C (s, [1 1 1] / 3, "circular"), conv (s([16, 1:16, 1]), [1 1 1] / 3, "valid"), 1e-12);

%!test # empty arrays, classes
%! C = @ConvolutionConstantMemory_CUDA;
%! for dims = {[0 0], [0 3], [2 0 3], [2 3 0 2]}
%!   for type = {"double", "single"}
%!     y = C (complex (zeros (dims{1}, type{1}), 0), ones (2, 2));
%!     assert (isa (y, type{1}) && isequal (size (y), dims{1}));
%!     y = C (complex (zeros (dims{1}), 0), ones (2, 2, type{1}), "Iterations", 4);
%!     assert (isa (y, type{1}) && isequal (size (y), dims{1}));
%!   endfor
%! endfor
%! z = complex (noise (1, 5, 4), noise (2, 5, 4));
%! assert (same_bits (C (z, single ([1 2])), C (single (z), [1 2])));
%! assert (isa (C (z, single ([1 2])), "single") && isa (C (z, [1 2]), "double"));

## --- The derivative ----------------------------------------------------------------

%!test # each part by itself, with every option
%! ok = @(varargin) agrees_with (@fma_derivative, "DerivativeConstantMemory_CUDA", varargin);
%! z = complex (noise (1, 30, 12, 2), noise (2, 30, 12, 2));
%! for type = {"double", "single"}
%!   for o = {{}, {0.1}, {single(0.3), "Boundary", "circular"}, {"Boundary", 2}, {2, "Dim", 2}, {"Dim", 5, "Boundary", "mirror"}, ...
%!            {"Boundary", {"symmetric", 1}, "Dim", 3}, {0.5, "Coefficients", "readonly"}, {0.5, "Backend", "cpu"}}
%!     ok (cast (z, type{1}), o{1}{:});
%!   endfor
%!   ok (cast (z(:,1,1), type{1}));
%!   ok (cast (z(1,:,1), type{1}), 3);
%!   for dims = {[0 0], [0 3], [2 0 3]}
%!     y = DerivativeConstantMemory_CUDA (complex (zeros (dims{1}, type{1}), 0), 0.1);
%!     assert (isa (y, type{1}) && isequal (size (y), dims{1}));
%!   endfor
%! endfor

%!test # of a wave exp (i k x) it is i k times that
%! x = (0:99)' * 2 * pi / 100;
%! d = DerivativeConstantMemory_CUDA (exp (3i * x), x(2), "Boundary", "circular");
%! assert (d, 3i * exp (3i * x), 1e-4);

## --- All three ---------------------------------------------------------------------

%!test # nothing is written to an input; the output is the caller's
%! z = complex (noise (1, 40, 30), noise (2, 40, 30));
%! keep = {real(z) + 0, imag(z) + 0};
%! alias = z;
%! for call = {@(z) StencilConstantMemory_CUDA (z, 1:4), @(z) ConvolutionConstantMemory_CUDA (z, ones (2, 3)), ...
%!             @(z) DerivativeConstantMemory_CUDA (z), @(z) StencilConstantMemory_CUDA (z, 1, "Iterations", 0)}
%!   y = call{1} (z);
%!   again = y;
%!   y(:) = 1i;
%!   assert (same_bits (again, call{1} (z)));
%!   z = call{1} (z);
%!   assert (same_bits (z, again));
%!   assert (same_bits (real (alias), keep{1}) && same_bits (imag (alias), keep{2}));
%!   z = alias;
%! endfor
