function u = DeviceArray (varargin)
%DeviceArray  Array that stays on the GPU between calls.
%
%   U = DeviceArray (X)
%   U = DeviceArray (X, NAME, VALUE, ...)
%   U = DeviceArray.zeros (N)
%   U = DeviceArray.zeros (M, N, ...)
%   U = DeviceArray.zeros ([M N ...])
%   U = DeviceArray.zeros (..., CLASS, NAME, VALUE, ...)
%   U = zeros (..., 'like', V)       where V lies, in its class
%   U = DeviceArray.ones (...)
%
%   Copies X to the GPU, or, where there is none, to memory of its own for the
%   CPU. Arithmetic on U runs there and its results stay there. The values come
%   back with GATHER. A chain of operations takes one PCIe transfer each way.
%
%   Inputs
%     X      real, full array, double or single, of any size
%     CLASS  'double' (the default) or 'single'
%
%   Options, as name and value
%     'Backend'  'auto' (the default), 'cuda' or 'cpu'
%     'Device'   which GPU, a whole number counted from 1. Of a DeviceArray that
%                lies on another GPU, a copy is made there
%   They mean what they mean to StencilConstantMemory_CUDA. 'fastest' chooses
%   for one call and is none of them; STENCIL_BACKEND=fastest is 'auto' here.
%
%   What gives a new DeviceArray
%     u + v, u - v, u .* v, u ./ v, u .\ v, -u, +u, abs, sqrt, u .^ k with a
%     whole number k from -16 to 16, max (u, v), min (u, v)
%     s * u, u * s, u / s, s \ u with a scalar s
%     ==, ~=, <, <=, >, >=, &, |, ~, xor, isnan, isinf, isfinite: ones and zeros
%     of the class of the operands
%     u(:), reshape, squeeze, a transposed vector, double, single, real, imag,
%     conj
%     One operand may be an ordinary array, double, single or logical. Sizes are
%     expanded as the host does it, and the result is single where an operand
%     is.
%
%   What gives ordinary values
%     gather (u)         all values
%     u(i), u(i, j, ..)  some values; ranges, END, ':', and masks as usual. Only
%                        u(:) stays on the GPU.
%     sum, sumsq, any, all, max (u), min (u), and max (u, [], dim),
%     min (u, [], dim)
%                        along the first dimension that is not 1, along a given
%                        one, or over all elements with 'all' in its place
%     dot (u, v), norm (u), norm (u, p) with p 1, 2, Inf, -Inf or 'fro'
%                        of a matrix 'fro' only
%     nnz, isequal, size, numel, ndims, rows, columns, length, isempty,
%     isscalar, isvector, isrow, iscolumn, ismatrix, isreal, isfloat, isnumeric,
%     underlyingType, isUnderlyingType
%     device (u)         the number of the GPU, or 0 for the CPU
%
%   Assignment and copies
%     V = U makes a second name for one array and copies nothing. No operation
%     changes an array: U(I) = VALUE makes a new one for U, and V keeps the old
%     values, as with ordinary arrays. So an assignment costs a copy of the
%     array: assign ranges, not elements in a loop. The array does not grow.
%     An array is freed when its last name is gone: CLEAR U. (In MATLAB, DELETE
%     (U) frees it at once; in Octave that does nothing.)
%     SAVE does not keep it: save gather (u).
%
%   What is different from an ordinary array
%     "if (u)" and "while (u)" cannot be refused: Octave takes an object for
%     false. Write if (all (u > 0)) or if (any (u)).
%     Octave gives no reason where [u, v] is refused, and no u++ at all.
%     After "clear functions" Octave 7 knows the methods of a class again when
%     an object is indexed, as in u(1), or the class is named. The arrays stay.
%     class (u) is 'DeviceArray'; underlyingType (u) is 'double' or 'single'.
%     Everything that is not named here is an error that says what to do. Most
%     often that is GATHER.
%
%   Errors, DeviceArray:
%     unsupported  an operation that a DeviceArray does not have
%     index        an index outside the array, or none: 0, 1.5, {}
%     dimension    a dimension that is no whole number from 1 up
%     size         sizes that do not go together
%     dataType     an operand of another type
%     ...          and those of StencilConstantMemory_CUDA, such as option,
%                  noDevice, busy, outOfMemory, notBuilt
%
%   Examples
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
%   See also GrayScott_Demo, WaveEquation_Demo, GameOfLife_Demo,
%   StencilConstantMemory_CUDA, ConstantMemoryDevice_CUDA, compile_mex.

  % In Octave, where it has the type of its own (src/mex/object.cc), this function comes ahead of the class of its name. A
  % class could not return the type. Without inputs: what DeviceArray.zeros is asked of.

  if nargin == 0
    u = DeviceArray_CUDA ('statics');
  else
    u = DeviceArray_CUDA ('make', varargin{:});
  end
end
