classdef DeviceArray < handle
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

  % In blocks of methods: the constructor, operators and functions of one element after
  % another, sizes and classes, indexing, what is refused. Every other method is a file of
  % this folder that uses no property: it serves the type of Octave's own, too, which
  % answers by itself what is here (src/mex/object.cc).

  % The number by which the library knows the array. Empty where construction failed
  % or the object came from a file. Read access is public for mxGetProperty.
  properties (SetAccess = private, Hidden, Transient)
    id
  end

  % Frees the array with its object. There is no method DELETE: Octave would
  % call it for every object, and that takes longer than most operations. The
  % library makes its results with its own guard, if it can.
  properties (Access = private, Hidden, Transient)
    guard
  end

  % One line for each frequent method: an interpreter's call takes microseconds.
  % Checks that the library makes are not made here.
  methods
    function this = DeviceArray (x, varargin)
      % The library calls this with the number of an array, where it cannot make the
      % object by itself.
      if nargin == 1 && isa (x, 'uint64') && isscalar (x)
        this.id = x;
        this.guard = DeviceArray.guarded (x);
      elseif nargin == 0
        error ('DeviceArray:numberOfInputs', ...
               'Number of Inputs are Wrong: DeviceArray needs an array, DeviceArray (x).');
      else
        % The library makes the object: Ctrl-C finds no number without a guard.
        this = DeviceArray_CUDA ('new', x, varargin{:});
      end
    end
  end

  methods
    % u + v  Element by element.
    function c = plus (a, b), c = DeviceArray_CUDA ('plus', a, b); end

    % u - v  Element by element.
    function c = minus (a, b), c = DeviceArray_CUDA ('minus', a, b); end

    % u .* v  Element by element.
    function c = times (a, b), c = DeviceArray_CUDA ('times', a, b); end

    % u ./ v  Element by element.
    function c = rdivide (a, b), c = DeviceArray_CUDA ('rdivide', a, b); end

    % u .\ v  Element by element.
    function c = ldivide (a, b), c = DeviceArray_CUDA ('rdivide', b, a); end

    % s * u, u * s  With a scalar, on the device; and a row times a column, which is their dot product.

    % The host's own ISSCALAR answers for its arrays, without a question to the library.
    function c = mtimes (a, b)
      if ~isobject (a) && isscalar (a) || isscalar (b) || isscalar (a)
        c = DeviceArray_CUDA ('times', a, b);
      elseif isrow (a) && iscolumn (b) && numel (a) == numel (b) && ~isinteger (a) && ~isinteger (b)
        c = DeviceArray_CUDA ('dot', a, b);
      else
        refuse ('the product of two matrices', '', ...
                'For elementwise products use .*, for dot products DOT. ');
      end
    end

    % u / s  With a scalar, on the device.
    function c = mrdivide (a, b)
      if isscalar (b)
        c = DeviceArray_CUDA ('rdivide', a, b);
      else
        refuse ('division by a matrix', '', 'For elementwise division use ./. ');
      end
    end

    % s \ u  With a scalar, on the device.
    function c = mldivide (a, b)
      if isscalar (a)
        c = DeviceArray_CUDA ('rdivide', b, a);
      else
        refuse ('division by a matrix', '', 'For elementwise division use .\. ');
      end
    end

    % u .^ v  Element by element; NaN where the power is complex. As the host has it, a
    % number of class single makes the result single.
    function c = power (a, k)
      if isa (k, 'single') && isscalar (k) && isa (a, 'DeviceArray') && ~isinteger (a)
        a = single (a);
      end
      c = DeviceArray_CUDA ('power', a, k);
    end

    function c = mpower (a, k)
      if ~isscalar (a) || ~isscalar (k)
        refuse ('^', 'gather (u) ^ k', 'For elementwise powers use .^. ');
      end
      c = power (a, k);
    end

    % -u  On the device.
    function c = uminus (a), c = DeviceArray_CUDA ('uminus', a); end

    % +u  The array itself; truth values become numbers, and one element a number of the host's.
    function a = uplus (a)
      if islogical (a)
        a = double (a);
      end
      if isscalar (a)
        a = DeviceArray_CUDA ('pick', a, 1);
      end
    end

    % u == v  Truth values.
    function c = eq (a, b), c = DeviceArray_CUDA ('eq', a, b); end

    % u ~= v  Truth values.
    function c = ne (a, b), c = DeviceArray_CUDA ('ne', a, b); end

    % u < v  Truth values.
    function c = lt (a, b), c = DeviceArray_CUDA ('lt', a, b); end

    % u <= v  Truth values.
    function c = le (a, b), c = DeviceArray_CUDA ('le', a, b); end

    % u > v  Truth values.
    function c = gt (a, b), c = DeviceArray_CUDA ('gt', a, b); end

    % u >= v  Truth values.
    function c = ge (a, b), c = DeviceArray_CUDA ('ge', a, b); end

    % u & v  Truth values.
    function c = and (a, b), c = DeviceArray_CUDA ('and', a, b); end

    % u | v  Truth values.
    function c = or (a, b), c = DeviceArray_CUDA ('or', a, b); end

    % ~u  Truth values.
    function c = not (a), c = DeviceArray_CUDA ('not', a); end

    % u.'  On the device.
    function u = transpose (this), u = DeviceArray_CUDA ('transpose', this); end

    % u'  On the device.
    function u = ctranspose (this), u = DeviceArray_CUDA ('transpose', this); end

    % abs (u)  Magnitudes, on the device.
    function c = abs (a), c = DeviceArray_CUDA ('abs', a); end

    % sqrt (u)  Square roots, on the device; NaN of negative numbers.
    function c = sqrt (a), c = DeviceArray_CUDA ('sqrt', a); end

    % exp (u)  Powers of e.
    function c = exp (a), c = DeviceArray_CUDA ('exp', a); end

    % expm1 (u)  exp (u) - 1, accurate for small numbers.
    function c = expm1 (a), c = DeviceArray_CUDA ('expm1', a); end

    % log (u)  Natural logarithms; NaN of negative numbers.
    function c = log (a), c = DeviceArray_CUDA ('log', a); end

    % log2 (u)  Logarithms to the base 2; NaN of negative numbers.
    function c = log2 (a), c = DeviceArray_CUDA ('log2', a); end

    % log10 (u)  Logarithms to the base 10; NaN of negative numbers.
    function c = log10 (a), c = DeviceArray_CUDA ('log10', a); end

    % log1p (u)  log (1 + u), accurate for small numbers; NaN below -1.
    function c = log1p (a), c = DeviceArray_CUDA ('log1p', a); end

    % sin (u)  Sines of angles in radians.
    function c = sin (a), c = DeviceArray_CUDA ('sin', a); end

    % cos (u)  Cosines of angles in radians.
    function c = cos (a), c = DeviceArray_CUDA ('cos', a); end

    % tan (u)  Tangents of angles in radians.
    function c = tan (a), c = DeviceArray_CUDA ('tan', a); end

    % asin (u)  Arc sines; NaN beyond 1.
    function c = asin (a), c = DeviceArray_CUDA ('asin', a); end

    % acos (u)  Arc cosines; NaN beyond 1.
    function c = acos (a), c = DeviceArray_CUDA ('acos', a); end

    % atan (u)  Arc tangents.
    function c = atan (a), c = DeviceArray_CUDA ('atan', a); end

    % sinh (u)  Hyperbolic sines.
    function c = sinh (a), c = DeviceArray_CUDA ('sinh', a); end

    % cosh (u)  Hyperbolic cosines.
    function c = cosh (a), c = DeviceArray_CUDA ('cosh', a); end

    % tanh (u)  Hyperbolic tangents.
    function c = tanh (a), c = DeviceArray_CUDA ('tanh', a); end

    % asinh (u)  Inverse hyperbolic sines.
    function c = asinh (a), c = DeviceArray_CUDA ('asinh', a); end

    % acosh (u)  Inverse hyperbolic cosines; NaN below 1.
    function c = acosh (a), c = DeviceArray_CUDA ('acosh', a); end

    % atanh (u)  Inverse hyperbolic tangents; NaN beyond 1.
    function c = atanh (a), c = DeviceArray_CUDA ('atanh', a); end

    % cbrt (u)  Cube roots.
    function c = cbrt (a), c = DeviceArray_CUDA ('cbrt', a); end

    % erf (u)  The error function.
    function c = erf (a), c = DeviceArray_CUDA ('erf', a); end

    % erfc (u)  1 - erf (u), accurate where that is small.
    function c = erfc (a), c = DeviceArray_CUDA ('erfc', a); end

    % floor (u)  Whole numbers, downwards.
    function c = floor (a), c = DeviceArray_CUDA ('floor', a); end

    % ceil (u)  Whole numbers, upwards.
    function c = ceil (a), c = DeviceArray_CUDA ('ceil', a); end

    % round (u)  The nearest whole numbers; halves go away from zero.
    function c = round (a), c = DeviceArray_CUDA ('round', a); end

    % fix (u)  Whole numbers, towards zero.
    function c = fix (a), c = DeviceArray_CUDA ('fix', a); end

    % sign (u)  -1, 0 or 1.
    function c = sign (a), c = DeviceArray_CUDA ('sign', a); end

    % isnan (u)  Truth values.
    function c = isnan (a), c = DeviceArray_CUDA ('isnan', a); end

    % isinf (u)  Truth values.
    function c = isinf (a), c = DeviceArray_CUDA ('isinf', a); end

    % isfinite (u)  Truth values.
    function c = isfinite (a), c = DeviceArray_CUDA ('isfinite', a); end

    % real (u)  As +u, since its numbers are real.
    function a = real (a), a = +a; end

    % conj (u)  As +u, since its numbers are real.
    function a = conj (a), a = +a; end

    % double (u)  In double, on the device.
    function u = double (this), u = DeviceArray_CUDA ('convert', this, 'double'); end

    % single (u)  In single, on the device.
    function u = single (this), u = DeviceArray_CUDA ('convert', this, 'single'); end

    % int8 (u) and so on  In that class, on the device: rounded, and as near as it holds.
    function u = int8 (this), u = DeviceArray_CUDA ('convert', this, 'int8'); end
    function u = int16 (this), u = DeviceArray_CUDA ('convert', this, 'int16'); end
    function u = int32 (this), u = DeviceArray_CUDA ('convert', this, 'int32'); end
    function u = int64 (this), u = DeviceArray_CUDA ('convert', this, 'int64'); end
    function u = uint8 (this), u = DeviceArray_CUDA ('convert', this, 'uint8'); end
    function u = uint16 (this), u = DeviceArray_CUDA ('convert', this, 'uint16'); end
    function u = uint32 (this), u = DeviceArray_CUDA ('convert', this, 'uint32'); end
    function u = uint64 (this), u = DeviceArray_CUDA ('convert', this, 'uint64'); end
  end

  methods
    % size (u), size (u, dim)  As of an ordinary array.
    function varargout = size (this, varargin)
      d = DeviceArray_CUDA ('size', this);
      n = max (nargout, 1);
      if nargin > 1
        asked = [varargin{:}];
        if isempty (asked) || ~isnumeric (asked) || any (asked < 1) || any (asked ~= fix (asked))
          error ('DeviceArray:dimension', ...
                 'size: the dimension must be a whole number from 1 up, or several of them.');
        end
        d = [d, 1];
        d = d(min (asked, numel (d)));
        if n > numel (d)
          error ('DeviceArray:numberOfOutputs', ...
                 'size: %d outputs for %d dimensions.', n, numel (d));
        end
      elseif n > 1
        d(end+1:n) = 1;
        d = [d(1:n-1), prod(d(n:end))];
      end
      if nargout > 1
        varargout = num2cell (d(1:n));
      else
        varargout = {d};
      end
    end

    % numel (u)  The number of elements.
    function n = numel (this, varargin)
      if nargin > 1
        % Asked how many values u(...) has on the left or in a list: it is one array.
        n = 1;
      else
        n = prod (DeviceArray_CUDA ('size', this));
      end
    end

    % MATLAB's question for the same.
    function n = numArgumentsFromSubscript (varargin)
      n = 1;
    end

    % ndims (u)  The number of dimensions.
    function n = ndims (this), n = numel (DeviceArray_CUDA ('size', this)); end

    % rows (u)  The number of rows.
    function n = rows (this), n = size (this, 1); end

    % columns (u)  The number of columns.
    function n = columns (this), n = size (this, 2); end

    % length (u)  The largest dimension; 0 for an empty array.
    function n = length (this), d = size (this); n = max (d) * all (d); end

    function yes = isempty (this), yes = any (DeviceArray_CUDA ('size', this) == 0); end
    function yes = isscalar (this), yes = all (DeviceArray_CUDA ('size', this) == 1); end
    function yes = isvector (this), d = size (this); yes = numel (d) == 2 && any (d == 1); end
    function yes = isrow (this), d = size (this); yes = numel (d) == 2 && d(1) == 1; end
    function yes = iscolumn (this), d = size (this); yes = numel (d) == 2 && d(2) == 1; end
    function yes = ismatrix (this), yes = ndims (this) == 2; end
    function yes = issquare (this), d = size (this); yes = numel (d) == 2 && d(1) == d(2); end
    function yes = isreal (this), yes = true; end %#ok<MANU>
    function yes = isfloat (this), yes = isUnderlyingType (this, 'double') || isUnderlyingType (this, 'single'); end
    function yes = islogical (this), yes = isUnderlyingType (this, 'logical'); end
    function yes = isnumeric (this), yes = ~islogical (this); end
    function yes = isinteger (this), yes = ~isfloat (this) && ~islogical (this); end

    % isa (u, name)  As of a handle; and whether the values are 'numeric', 'float', 'integer'.
    function yes = isa (this, name)
      yes = builtin ('isa', this, name);
      if ~all (yes)
        yes = yes | strcmp (name, 'numeric') & isnumeric (this) | strcmp (name, 'float') & isfloat (this) ...
              | strcmp (name, 'integer') & isinteger (this);
      end
    end

    % reshape (u, m, n, ...), reshape (u, [m n ...])  Other sizes; one of several may be []. Nothing is copied.
    function u = reshape (this, varargin)
      ordinary ('reshape', varargin{:});
      u = DeviceArray_CUDA ('reshape', this, varargin{:});
    end

    % permute (u, order)  Dimension k of the result is dimension order(k).
    function u = permute (this, order)
      ordinary ('permute', order);
      u = DeviceArray_CUDA ('permute', this, order(:).');
    end

    % ipermute (u, order)  Dimensions in the order before permute.
    function u = ipermute (this, order)
      ordinary ('ipermute', order);
      back(order) = 1:numel (order);
      u = permute (this, back);
    end

    % squeeze (u)  Without dimensions of one element; a matrix stays as it is.
    function u = squeeze (this)
      d = size (this);
      u = this;
      if numel (d) > 2
        d = [d(d ~= 1) 1 1];
        u = reshape (this, d(1:max (2, find (d ~= 1, 1, 'last'))));
      end
    end
  end

  methods
    function n = end (this, k, count)
      d = DeviceArray_CUDA ('size', this);
      if k < count
        d(end+1:k) = 1;
        n = d(k);
      else
        n = prod (d(k:end));
      end
    end

    function varargout = subsref (this, s)
      % The most frequent index takes the fewest steps of the interpreter.
      persistent again
      if isempty (again)
        DeviceArray.found ();
        again = true;
      elseif numel (s) == 1 && s.type(1) == '(' && numel (s.subs) == 1 && isa (s.subs{1}, 'double')
        varargout = {DeviceArray_CUDA('pick', this, s.subs{1})};
        return;
      end
      switch s(1).type
        case '()'
          value = this;
          if ~isempty (s(1).subs)
            value = DeviceArray_CUDA ('pick', this, s(1).subs{:});
          end
          s = s(2:end);
        case '.'
          name = s(1).subs;
          if strcmp (name, 'id')
            % Octave asks here for DELETE too, once "clear functions" has run.
            varargout = {builtin('subsref', this, s(1))};
            return;
          end
          if ~ismethod (this, name) || any (strcmp (name, {'DeviceArray', 'found', 'guarded'}))
            error ('DeviceArray:unsupported', 'A DeviceArray has no field or method %s.', name);
          end
          inputs = {};
          s = s(2:end);
          if ~isempty (s) && strcmp (s(1).type, '()')
            inputs = s(1).subs;
            s = s(2:end);
          end
          nothing = {'delete', 'display'};
          if isempty (s) && (any (strcmp (name, nothing)) || strcmp (name, 'disp') && nargout == 0)
            feval (name, this, inputs{:});
            varargout = {};
            return;
          end
          % Octave from 8 on asks for as many outputs as the array has elements where
          % U.NAME () stands in an expression. Only SIZE has more than one.
          if isempty (s) && strcmp (name, 'size') && nargout > 1 && nargout ~= numel (this)
            [varargout{1:nargout}] = size (this, inputs{:});
            return;
          end
          value = feval (name, this, inputs{:});
        otherwise
          error ('DeviceArray:index', ...
                 '''{'' is for cell arrays: write u(...) for values of a DeviceArray.');
      end
      if ~isempty (s)
        value = subsref (value, s);
      end
      varargout = {value};
    end

    % A new array, for the name that is assigned to. Hosts give the left side to a
    % handle class as to any other, and put what comes back in its place: other names
    % of the old array keep its values, as with ordinary arrays.
    function u = subsasgn (this, s, value)
      if (isstruct (this) || iscell (this)) && ~strcmp (s(end).type, '()')
        % SETFIELD calls this with a field's new value.
        u = builtin ('subsasgn', this, s, value);
      elseif ~isa (this, 'DeviceArray')
        error ('DeviceArray:unsupported', ...
               'A DeviceArray cannot be put into an ordinary array: write x(...) = gather (u).');
      elseif numel (s) > 1 || ~strcmp (s.type, '()')
        error ('DeviceArray:unsupported', ...
               'A DeviceArray has elements only: u(...) = value, no fields and no cells.');
      elseif isa (value, 'double') && isequal (size (value), [0 0])
        u = DeviceArray_CUDA ('remove', this, s.subs{:});
      else
        u = DeviceArray_CUDA ('put', this, value, s.subs{:});
      end
    end

    % MATLAB's question where an object is an index. Octave refuses by itself.
    function i = subsindex (this) %#ok<STOUT,MANU>
      error ('DeviceArray:index', ...
             'A DeviceArray cannot be an index of an ordinary array: x(gather (u)).');
    end
  end

  methods
    function varargout = plot (varargin), refuse ('plot'); end
    function varargout = gamma (varargin), refuse ('gamma'); end
    function varargout = num2str (varargin), refuse ('num2str'); end
    function varargout = mat2str (varargin), refuse ('mat2str'); end
    function varargout = sprintf (varargin), refuse ('sprintf', 'sprintf (template, gather (u))'); end
    function varargout = printf (varargin), refuse ('printf', 'printf (template, gather (u))'); end
    function varargout = fprintf (varargin), refuse ('fprintf', 'fprintf (template, gather (u))'); end
  end

  methods (Static)
    u = zeros (varargin)
    u = ones (varargin)
    u = NaN (varargin)
    u = Inf (varargin)
    u = rand (varargin)
    u = randn (varargin)
    u = randi (limits, varargin)
    state = rng (state)
    varargout = linspace (varargin)
    varargout = iterate (f, n, varargin)
    step = compile (f, varargin)
    varargout = runStep (guard, number, f, asked, arguments)

    % MATLAB's LOAD calls it with the result of SAVEOBJ.
    function u = loadobj (saved)
      u = DeviceArray (saved.values);
    end
  end

  methods (Static, Access = private)
    % Once functions have been cleared, Octave finds those of this file again by the call
    % of a static one alone.
    function found ()
    end

    % Not in the constructor: the function would hold its variables, and so the object.
    function guard = guarded (id)
      free = @DeviceArray_CUDA;
      % Twice, as in private/whenGone.m, whose call would take microseconds for each object.
      second = onCleanup (@() free ('delete', id));
      guard = onCleanup (@() free ('delete', id, second));
    end
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
