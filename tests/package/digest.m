## -*- texinfo -*-
## @deftypefn {} {} digest ()
## Prints a line for each of many calls on the processor: a checksum of the bits of its result, or its error's identifier.
## Processors of any architecture print the same.
## @end deftypefn

function digest ()
  setenv ("STENCIL_BACKEND", "cpu");
  ## Products that end in any bits, from operations that are exact or rounded in the same way everywhere.
  noise = @(varargin) mod (reshape ((1:prod ([varargin{:}])) * 0.6180339887498949, varargin{:}) * 7.3, 1) - 0.45;
  x = noise (40, 31);
  v = noise (19, 17, 12);
  taps = noise (1, 9);
  w = noise (5, 5);
  fma = hard_fma_cases ("double");

  show ("table", @() StencilConstantMemory_CUDA (ones (1, 20), ones (1, 11)));
  show ("one multiply-add", @() StencilConstantMemory_CUDA (fma(:,1:2), [1 fma(7,3) 0], "Dim", 2));
  for boundary = {0, 0.5, "replicate", "circular", "symmetric", "mirror"}
    named = disp (boundary{1});
    show (["boundary " named], @() StencilConstantMemory_CUDA (x, taps, "Boundary", boundary{1}, "Iterations", 3));
    show (["image, boundary " named], @() ConvolutionConstantMemory_CUDA (x, w, "Boundary", boundary{1}));
  endfor
  for dim = 1:3
    show (sprintf ("dimension %d", dim), @() StencilConstantMemory_CUDA (v, taps, "Dim", dim));
    show (sprintf ("single, dimension %d", dim), @() StencilConstantMemory_CUDA (single (v), single (taps), "Dim", dim));
  endfor
  show ("derivative", @() DerivativeConstantMemory_CUDA (x, 0.1));
  show ("derivative, single", @() DerivativeConstantMemory_CUDA (single (x)));
  show ("sweeps", @() ConvolutionConstantMemory_CUDA (x, w / 9, "Iterations", 12));
  show ("volume", @() ConvolutionConstantMemory_CUDA (v, noise (3, 3, 3), "Iterations", 4));
  show ("volume, single", @() ConvolutionConstantMemory_CUDA (single (v), single (noise (5, 3, 3))));
  show ("large filter", @() ConvolutionConstantMemory_CUDA (x, noise (23, 19)));
  show ("integers", @() ConvolutionConstantMemory_CUDA (uint8 (x * 200 + 100), w));
  show ("complex", @() ConvolutionConstantMemory_CUDA (complex (x, 1 - x .* x), w, "Shape", "full"));
  show ("levels", @() ConvolutionConstantMemory_CUDA (x, w / 3, "Iterations", 5, "Previous", -x, "Weight", 0.7, "Source", w(1) * x));

  u = DeviceArray (x);
  p = DeviceArray (abs (x) + 0.01);
  for name = {"exp", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "erf", "erfc", ...
              "cbrt", "floor", "round", "sign", "abs", "isnan", "sum", "prod", "max", "min", "mean", "std", "var", ...
              "median", "cumsum", "cumprod", "cummax", "sort", "any", "all", "diff", "fliplr", "transpose", "find"}
    show (name{1}, @() feval (name{1}, u));
    show (["single ", name{1}], @() feval (name{1}, DeviceArray (single (x))));
  endfor
  for name = {"log", "log2", "log10", "log1p", "sqrt", "acosh"}
    show (name{1}, @() feval (name{1}, p));
  endfor
  for name = {"plus", "minus", "times", "rdivide", "power", "atan2", "hypot", "mod", "rem", "max", "lt", "eq"}
    show (name{1}, @() feval (name{1}, p, u + 0.25));
  endfor
  show ("places", @() u(3:2:20, [2 5 31]));
  show ("mask", @() u(u > 0.2));
  DeviceArray.rng (7);
  show ("rand", @() DeviceArray.rand (100, 3));
  show ("randn", @() DeviceArray.randn (100, 3, "single"));
  show ("randi", @() DeviceArray.randi (1000, 50, 1));
  heat = @(u, k) u + 0.2 * ConvolutionConstantMemory_CUDA (u, [0 1 0; 1 -4 1; 0 1 0], "Boundary", "replicate") ./ (1 + u .^ 2);
  show ("a step", @() DeviceArray.iterate (heat, 10, u));

  show ("error: a filter of text", @() StencilConstantMemory_CUDA (x, "abc"));
  show ("error: an option", @() ConvolutionConstantMemory_CUDA (x, w, "Bundary", 0));
  show ("error: sizes", @() u + DeviceArray (1:7));
  show ("error: an index", @() u(41, 1));
endfunction

function show (name, call)
  name = strtrim (name);
  try
    value = gather (call ());
  catch failure
    printf ("%s: %s\n", name, failure.identifier);
    return;
  end_try_catch
  if (isfloat (value))
    ## Processors have NaNs of their own.
    value(isnan (value)) = NaN;
  endif
  parts = {real(value), imag(value)};
  bytes = cellfun (@(part) typecast (double (part(:)), "uint8")(:).', parts, "UniformOutput", false);
  printf ("%s: %s %s %s\n", name, class (value), mat2str (size (value)), hash ("sha256", char ([bytes{:}]))(1:32));
endfunction
