function varargout = DeviceArray (x, varargin)
%DeviceArray  Array that stays on the GPU between calls.
%
%   U = DeviceArray (X)
%   [U, V, ...] = DeviceArray.iterate (F, N, U, V, ...)
%   STEP = DeviceArray.compile (F, U, V, ...)
%   U = DeviceArray (X, NAME, VALUE, ...)
%   U = DeviceArray.zeros (N)
%   U = DeviceArray.zeros (M, N, ...)
%   U = DeviceArray.zeros ([M N ...])
%   U = DeviceArray.zeros (..., CLASS, NAME, VALUE, ...)
%   U = zeros (..., 'like', V)       where V lies, in its class
%   U = DeviceArray.ones (...)
%   U = DeviceArray.rand (...), randn, randi; DeviceArray.rng (SEED)
%
%   Steps that are compiled
%     Write the step of a solver as a function of arrays,
%     [U, V, ...] = F (U, V, ...), as for ordinary ones. DeviceArray.iterate
%     records it, makes one kernel or a few of it, and takes N steps in one
%     call; DeviceArray.compile gives a function that takes one. Both have the
%     bits of the loop, in a part of its time: operations one by one each read
%     and write whole arrays. "help DeviceArray.iterate" lists what a step may
%     use, and the options: sources, receivers, conditions to stop.
%
%   Operations one by one
%     DeviceArray (X) copies X to the GPU, or, where there is none, to memory of
%     its own for the CPU. What is computed from U stays there, and the values
%     come back with GATHER. A chain of operations takes one PCIe transfer each
%     way.
%
%   Inputs
%     X      real, full array of any size, of one of the classes
%     CLASS  'double' (the default), 'single', 'logical', or a class of integers
%            from 'int8' to 'uint32'
%
%   Options, as name and value
%     'Backend'  'auto' (the default), 'cuda' or 'cpu'
%     'Device'   which GPU, a whole number counted from 1. Of a DeviceArray that
%                lies on another GPU, a copy is made there
%   They mean what they mean to StencilConstantMemory_CUDA. 'fastest' chooses
%   for one call and is none of them; STENCIL_BACKEND=fastest is 'auto' here.
%
%   What there is ("help @DeviceArray/NAME" tells more, in MATLAB "help
%   DeviceArray/NAME"); one operand of two may be an ordinary array, and sizes
%   and classes of results are the host's
%     u + v, u - v, u .* v, u ./ v, u .\ v, u .^ v, -u, +u, abs
%     sqrt, exp, expm1, log, log2, log10, log1p, sin, cos, tan, asin, acos,
%     atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh, sinpi, cospi, erf,
%     erfc, cbrt, nthroot, hypot
%     s * u, u * s, u / s, s \ u with a scalar s, and u' * v of columns
%     floor, ceil, round, fix, sign, mod, rem
%     ==, ~=, <, <=, >, >=, &, |, ~, xor, isnan, isinf, isfinite: truth values,
%     and merge, which chooses by them
%     sum, prod, mean, median, sumsq, any, all, max, min along a dimension,
%     several, or 'all', some without NaN; var, std, nnz, dot, norm, trace
%     diff, cumsum, cumprod, cummax, cummin, sort, find, bsxfun, arrayfun: a
%     function of one element as one kernel; sub2ind, ind2sub
%     [u, v], [u; v], cat, repmat, reshape, permute, ipermute, squeeze, u.', u',
%     flip, fliplr, flipud, rot90, circshift, triu, tril, diag
%     double, single, logical, int8 to uint32, real, imag, conj
%     u(i), u(i, j, ...) with ranges, END, ':', masks and indices of either kind
%     u(i) = v, which may grow the array, and u(i, :) = []
%     isequal, isequaln, size, numel, ndims, rows, columns, length, isempty,
%     isscalar, isvector, isrow, iscolumn, ismatrix, issquare, isreal, isfloat,
%     isinteger, islogical, isnumeric, isa, underlyingType, isUnderlyingType,
%     device
%
%   Results of one element
%     What operators, indices and reductions give with exactly one element is an
%     ordinary number: so it serves as a condition, an index, or in a text. All
%     else stays on the device, and so does what is built, such as zeros (1).
%
%   Assignment and copies
%     V = U makes a second name for one array and copies nothing. U(I) = VALUE
%     leaves V as it was, as with ordinary arrays: where U has another name, it
%     gets a copy. An array is freed when its last name is gone: CLEAR U. (In
%     MATLAB, DELETE (U) frees it at once; in Octave that does nothing.)
%
%   Files
%     In Octave SAVE writes the values, as an ordinary array, and says so once a
%     session: DeviceArray (x) makes one of what is loaded. In MATLAB LOAD gives
%     a DeviceArray again. Where Octave has no library for its version it saves
%     only in MATLAB's formats, a struct of the values: save gather (u) there.
%
%   What is different from an ordinary array
%     "if (u)" and "while (u)" want one truth value: write if (all (u(:) > 0)).
%     A condition that is a DeviceArray is an error; but where Octave has no
%     library for its version, it takes any object for false.
%     There is no complex array: what would be complex is NaN, as sqrt (-1),
%     log (-1), acos (2) and (-8) .^ (1/3). To & and | NaN is no zero, and no
%     error.
%     class (u) is 'DeviceArray'; underlyingType (u) tells the class of its
%     values. So write zeros (n, 'like', u), not zeros (n, class (u)).
%     isa (u, 'double') is false, as of a gpuArray; 'numeric', 'float' and
%     'integer' tell of the values.
%     rand (3) is an ordinary array: DeviceArray.rand (3) is not.
%     Without the library for Octave's version, a row of numbers below or
%     above U wants brackets: [u; [1 2 3]].
%     Everything that is not named here is an error that says what to do. Most
%     often that is GATHER.
%
%   Errors, DeviceArray:
%     unsupported  an operation that a DeviceArray does not have
%     index        an index outside the array, or none: 0, 1.5, {}
%     dimension    a dimension that is no whole number from 1 up
%     size         sizes that do not go together
%     dataType     an operand of another class: complex, int64, a cell
%     ...          and those of StencilConstantMemory_CUDA, such as option,
%                  noDevice, busy, outOfMemory, notBuilt
%
%   Warnings, DeviceArray:
%     saved        a file has the values as an ordinary array; once a session
%     arrayfun     the function runs on the host, an element at a time, and why
%
%   Examples
%     % A thousand steps of the heat equation on a plate: one kernel
%     heat = @(u) u + 0.2 * ConvolutionConstantMemory_CUDA (u, ...
%                                                 [0 1 0; 1 -4 1; 0 1 0]);
%     u = DeviceArray.iterate (heat, 1000, DeviceArray (rand (100)));
%
%     % A chain of operations: one transfer each way
%     u = DeviceArray (rand (1000));
%     v = 2 * u + 1;
%     if (all (v(:) > 0))
%       x = gather (sqrt (v));
%     end
%
%     % Filters in turn, one over the result of the other
%     u = DeviceArray (rand (1, 1e5));
%     u = StencilConstantMemory_CUDA (u, [1 2 1] / 4);
%     u = DerivativeConstantMemory_CUDA (u, 0.1);
%     largest = max (abs (u(:)))
%
%     % Masks, and parts
%     u = DeviceArray (rand (1000));
%     u(u > 0.5) = 0;
%     edges = [u(1,:); u(end,:)];
%
%   See also GrayScott_Demo, WaveEquation_Demo, GameOfLife_Demo,
%   StencilConstantMemory_CUDA, ConstantMemoryDevice_CUDA, compile_mex.

  % In Octave, where it has the type of its own (src/mex/object.cc), this function comes ahead of the class of its name. A
  % class could not return the type. Without inputs: what DeviceArray.zeros is asked of.

  % In varargout: Octave would leave out an output whose place the caller of DeviceArray.NAME ignores.
  if nargin == 0
    varargout{1} = DeviceArray_CUDA ('statics');
  elseif nargin == 1
    varargout = {DeviceArray_CUDA('make', x)};
  else
    varargout{1} = DeviceArray_CUDA ('make', x, varargin{:});
  end
end

%!demo
%! ## Two hundred steps of the heat equation on a plate that stays on the device
%! u = zeros (80);
%! u(30:50, 20:35) = 100;
%! u = DeviceArray (u);
%! for step = 1:200
%!   flow = ConvolutionConstantMemory_CUDA (u, [0 1 0; 1 -4 1; 0 1 0], "Boundary", "symmetric");
%!   u = u + 0.2 * flow;
%! end
%! imagesc (gather (u));
%! axis image;
%! xlabel ("column (samples)");
%! ylabel ("row (samples)");
%! title ("after 200 steps");
%! ylabel (colorbar (), "temperature (degrees)");

%!test
%! u = DeviceArray ([1 2; 3 4]);
%! v = sqrt (u .* u) + 1;
%! assert (gather (v), [2 3; 4 5]);
%! assert (class (v), "DeviceArray");
%! assert (sum (v(:)), 14);
%!test # the functions take one and give one
%! u = DeviceArray (1:5);
%! assert (gather (StencilConstantMemory_CUDA (u, [1 1 1])), [3 6 9 12 9]);
%!test # a copy is a second name until one of them is assigned to
%! u = DeviceArray (zeros (1, 3));
%! v = u;
%! u(2) = 7;
%! assert ({gather(u), gather(v)}, {[0 7 0], [0 0 0]});
%!error id=DeviceArray:unsupported DeviceArray ([1 2]) ^ 2
