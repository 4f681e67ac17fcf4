## Images of integers and of truth values in ConvolutionConstantMemory_CUDA: computed in double, each sweep rounded and
## saturated as Octave's own conversions do it.

%!shared f, types
%! f = "ConvolutionConstantMemory_CUDA";
%! types = {"uint8", "uint16", "uint32", "int8", "int16", "int32", "logical"};

## Over the whole range of the class.
%!function n = image (seed, type, varargin)
%!  n = noise (seed, varargin{:});
%!  n = n - floor (n);
%!  if (strcmp (type, "logical"))
%!    n = n < 0.5;
%!    return;
%!  endif
%!  least = double (intmin (type));
%!  n = cast (least + n * (double (intmax (type)) - least), type);
%!endfunction

## Returns a result in its class.
%!function p = narrowed (p, type)
%!  if (strcmp (type, "logical"))
%!    p(isnan (p)) = 0;
%!    p = round (p) != 0;
%!    return;
%!  endif
%!  p = cast (p, type);
%!endfunction

## By exact multiply-adds in double, a sweep after the other.
%!function check (n, taps, varargin)
%!  o = sweep_options (varargin);
%!  ## A number is cast to the image's class; any but 0 is true.
%!  if (isnumeric (o.Boundary) && islogical (n))
%!    o.Boundary = double (o.Boundary != 0);
%!  elseif (isnumeric (o.Boundary))
%!    o.Boundary = double (cast (o.Boundary, class (n)));
%!  endif
%!  want = n;
%!  for i = 1:o.Iterations
%!    want = narrowed (fma_convolution (double (want), double (taps), "Boundary", o.Boundary, "Shape", o.Shape), class (n));
%!  endfor
%!  before = n + 0;
%!  p = ConvolutionConstantMemory_CUDA (n, taps, varargin{:});
%!  assert (class (p), class (n));
%!  assert (p, want);
%!  assert (n + 0, before);
%!endfunction

## --- Plain facts to read ---------------------------------------------------------

%!assert (ConvolutionConstantMemory_CUDA (uint8 ([10 20 30]), [1 1 1] / 3), uint8 ([10 20 17]))
%!assert (ConvolutionConstantMemory_CUDA (uint8 ([100 200 250]), 2), uint8 ([200 255 255]))
%!assert (ConvolutionConstantMemory_CUDA (uint8 ([1 2 3 5]), -1), uint8 ([0 0 0 0]))
%!assert (ConvolutionConstantMemory_CUDA (int8 ([1 2 3 -1 -3]), 0.5), int8 ([1 1 2 -1 -2]))
%!assert (ConvolutionConstantMemory_CUDA (int16 ([1 2]), NaN), int16 ([0 0]))
%!assert (ConvolutionConstantMemory_CUDA (int32 ([1 -2]), Inf), [intmax("int32"), intmin("int32")])
%!assert (ConvolutionConstantMemory_CUDA ([true false false true], [0.4 0.2 0.4]), [false false false false])
%!assert (ConvolutionConstantMemory_CUDA ([true false true true], [0.5 0 0.5]), [false true true true])
%!assert (ConvolutionConstantMemory_CUDA (true, NaN), false)
%!assert (class (ConvolutionConstantMemory_CUDA (true (2), 1)), "logical")

## --- Against Octave's own conv2 and conversions --------------------------------------

%!test # halves in whole numbers: exact in double in any order
%! for type = types
%!   for size_f = {[1 1], [3 3], [5 3], [15 15], [1 7]}
%!     n = image (1, type{1}, 30, 41);
%!     taps = floor (9 * noise (2, size_f{1})) / 2;
%!     want = narrowed (conv2 (double (n), rot90 (taps, 2), "same"), type{1});
%!     p = ConvolutionConstantMemory_CUDA (n, taps);
%!     assert (class (p), type{1});
%!     assert (p, want);
%!   endfor
%! endfor

%!test # a colour image and a volume, page by page and through the pages
%! for type = types
%!   n = image (3, type{1}, 20, 17, 3);
%!   p = ConvolutionConstantMemory_CUDA (n, ones (3) / 8, "replicate");
%!   for page = 1:3
%!     assert (p(:,:,page), ConvolutionConstantMemory_CUDA (n(:,:,page), ones (3) / 8, "replicate"));
%!   endfor
%!   assert (ConvolutionConstantMemory_CUDA (n, ones (3, 3, 3) / 8), ...
%!           narrowed (convn (double (n), ones (3, 3, 3) / 8, "same"), type{1}));
%! endfor

## --- The very bits -------------------------------------------------------------------

%!test # every class, boundary, shape; filters in double and in single
%! for type = types
%!   for boundary = {0, 0.5, -300, 1e10, NaN, "replicate", "symmetric", "circular"}
%!     if (strcmp (type{1}, "logical") && isnumeric (boundary{1}) && isnan (boundary{1}))
%!       continue;
%!     endif
%!     for shape = {"same", "full", "valid"}
%!       if (! takes ("classes", type, boundary, shape))
%!         continue
%!       endif
%!       o = {"Boundary", boundary{1}, "Shape", shape{1}};
%!       check (image (1, type{1}, 14, 11), noise (2, 3, 5), o{:});
%!       check (image (1, type{1}, 14, 11), single (noise (2, 3, 5)), o{:});
%!       check (image (1, type{1}, 5, 6, 4), noise (2, 3, 3, 3), o{:});
%!       check (image (1, type{1}, 1, 9), noise (2, 1, 15), o{:});
%!     endfor
%!   endfor
%! endfor

%!test # sweeps: each is rounded and saturates, as in so many calls
%! for type = types
%!   for count = {0, 1, 2, 3, 4, 7}
%!     for boundary = {0, 100, "symmetric", "circular"}
%!       if (! takes ("sweeps", type, count, boundary))
%!         continue
%!       endif
%!       check (image (4, type{1}, 12, 13), [1 2 1; 2 5 2; 1 2 1] / 16, "Boundary", boundary{1}, "Iterations", count{1});
%!     endfor
%!   endfor
%! endfor
%! ## A mean that is rounded each time stands still where an exact one goes on.
%! n = uint8 ([0 0 0 1 0 0 0]);
%! assert (ConvolutionConstantMemory_CUDA (n, [1 1 1] / 3, "Iterations", 50), uint8 (zeros (1, 7)));

%!test # empty images, of any class
%! for type = types
%!   for dims = {[0 0], [0 3], [3 0], [2 0 3]}
%!     n = image (1, type{1}, dims{1});
%!     for count = {0, 1, 5, 1e9}
%!       p = ConvolutionConstantMemory_CUDA (n, ones (3), "Iterations", count{1});
%!       assert (class (p), type{1});
%!       assert (size (p), dims{1});
%!     endfor
%!   endfor
%! endfor

%!test # more than one piece, and a large image in the host's memory: the same as parts of it
%! dims = {[4000 2500], [200 150]}{1 + is_small ()};
%! for type = {"uint8", "int16", "logical"}
%!   n = image (6, type{1}, dims);
%!   taps = noise (7, 5, 5) / 20;
%!   p = ConvolutionConstantMemory_CUDA (n, taps, "circular", "Iterations", 2);
%!   assert (class (p), type{1});
%!   part = ConvolutionConstantMemory_CUDA (double (n(1:100,1:100)), taps);
%!   part = ConvolutionConstantMemory_CUDA (double (narrowed (part, type{1})), taps);
%!   assert (p(5:96,5:96), narrowed (part, type{1})(5:96,5:96));
%! endfor

%!test # the other engine, the same bits
%! n = image (8, "uint16", 40, 30);
%! for count = [1 5]
%!   assert (ConvolutionConstantMemory_CUDA (n, noise (9, 3, 3), "Iterations", count), ...
%!           ConvolutionConstantMemory_CUDA (n, noise (9, 3, 3), "Iterations", count, "Backend", "cpu"));
%! endfor

%!test # they come through something, too: a transpose, a part, a range, a comparison
%! n = image (1, "uint8", 9, 12);
%! taps = noise (3, 3, 3);
%! check (n.', taps);
%! check (n(2:2:end,:), taps);
%! check (uint8 (1):uint8 (9), [1 2 1] / 4);
%! check (n > 100, taps);
%! check (eye (7) > 0, taps);
%! check (n(:,:,[1 1 1]), taps);

## --- Filters of any size, and volumes behind each other ---------------------------------

%!test # even and large filters, every class
%! for type = types
%!   for size_f = {[2 2], [4 3], [1 2], [1 30], [16 17], [2 2 2], [3 2 9]}
%!     for shape = {"same", "full", "valid"}
%!       if (! takes ("even", type, size_f, shape))
%!         continue
%!       endif
%!       o = {"Boundary", {0, 100, "symmetric", "circular"}{1 + mod(prod (size_f{1}), 4)}, "Shape", shape{1}};
%!       check (image (1, type{1}, 11, 18, 3), noise (2, size_f{1}) / 1e4, o{:});
%!       check (image (1, type{1}, 1, 9), noise (2, size_f{1}) / 1e4, o{:});
%!     endfor
%!     if (takes ("even, swept", type, size_f))
%!       check (image (1, type{1}, 9, 8), single (noise (2, size_f{1}) / 1e4), "Boundary", "replicate", "Iterations", 2);
%!     endif
%!   endfor
%!   n = image (3, type{1}, 30, 41);
%!   taps = mod (reshape (1:20, 4, 5), 5) / 8;
%!   assert (ConvolutionConstantMemory_CUDA (n, taps, "conv"), narrowed (conv2 (double (n), taps, "same"), type{1}));
%! endfor

%!test # a filter of three dimensions goes over each volume; one of two over each page
%! for type = types
%!   for dims = {[6 5 4 3], [4 5 1 2], [1 7 2 1 3], [3 3 2 2 2]}
%!     n = image (4, type{1}, dims{1});
%!     for taps = {noise(5, 3, 3, 3) / 1e4, noise(6, 2, 1, 2) / 1e4, noise(7, 3, 4) / 1e4, ones(1, 1, 2) / 2}
%!       for o = {{}, {"Iterations", 3, "Boundary", "circular"}, {"Shape", "full"}, {"Shape", "valid"}, ...
%!                {"Boundary", 77, "Shape", "full"}, {"Iterations", 0}}
%!         if (takes ("volumes", type, dims, size (taps{1}), o))
%!           check (n, taps{1}, o{1}{:});
%!         endif
%!       endfor
%!     endfor
%!   endfor
%!   for dims = {[2 2 2 0], [0 3 2 2], [2 2 0 3]}
%!     p = ConvolutionConstantMemory_CUDA (image (1, type{1}, dims{1}), ones (3, 3, 2), "Iterations", 3);
%!     assert (class (p), type{1});
%!     assert (size (p), dims{1});
%!   endfor
%! endfor

%!test # a list over volumes: rounded once, at the end of a sweep
%! n = image (4, "uint8", 6, 5, 4, 3);
%! list = {ones(3, 3, 3) / 27, [1 2 1 1] / 5, ones(1, 1, 2) / 2};
%! want = double (n);
%! for sweep = 1:2
%!   for i = 1:3
%!     want = fma_convolution (want, list{i}, "Boundary", "mirror");
%!   endfor
%!   want = double (uint8 (want));
%! endfor
%! got = ConvolutionConstantMemory_CUDA (n, list, "mirror", "Iterations", 2);
%! assert (class (got), "uint8");
%! assert (double (got), want);

## --- What is no image --------------------------------------------------------------------

%!test # integers of 64 bits, sparse and complex ones; filters of whole numbers; arrays on the device
%! for n = {int64(1:3), uint64(1:3), sparse(true(2)), "abc", {1}}
%!   text = fails (f, "dataType", {n{1}, 1});
%! endfor
%! text = fails (f, "dataType", {int64(1:3), 1});
%! assert (! isempty (strfind (text, "double (N)")) && ! isempty (strfind (text, "32 bits")), text);
%! for type = types
%!   fails (f, "dataType", {magic(4), cast(1, type{1})});
%!   fails (f, "dataType", {cast(ones(2), type{1}), cast(1, type{1})});
%!   assert (gather (DeviceArray (cast (ones (2), type{1}))), cast (ones (2), type{1}));
%!   fails ("StencilConstantMemory_CUDA", "dataType", {cast(1:3, type{1}), 1});
%!   fails ("DerivativeConstantMemory_CUDA", "dataType", {cast(1:3, type{1}), 1});
%! endfor
