function derivative = DerivativeConstantMemory_CUDA (f, h, varargin)
%DerivativeConstantMemory_CUDA  First derivative from nine points.
%
%   DERIVATIVE = DerivativeConstantMemory_CUDA (F)
%   DERIVATIVE = DerivativeConstantMemory_CUDA (F, H)
%   DERIVATIVE = DerivativeConstantMemory_CUDA (..., NAME, VALUE, ...)
%
%   Returns the first derivative of the samples F, which stand H apart. Each
%   value comes from the four samples before it and the four after it; the
%   error falls with the eighth power of H. Runs on an NVIDIA GPU where there
%   is one, with its coefficients in constant memory, else on the CPU: the same
%   bits.
%
%   The first four and the last four values along a line are NO derivative, as
%   samples outside the array are zero, unless the option 'Boundary' says
%   otherwise. See Edges.
%
%   Inputs
%     F   full array of class double or single, of any size. The derivative is
%         taken along the first dimension that is not 1, as DIFF does: of a row
%         along the row, of a matrix down each column; the option 'Dim' names
%         another. It may be empty. One of the host's may be complex: the
%         derivatives of its real and its imaginary parts are taken by
%         themselves. A number as the boundary is a real one.
%     H   the distance between samples: a real, positive, finite scalar of any
%         numeric class. It is 1 where it is left out, also before options.
%
%   Output
%     DERIVATIVE   of the size and the class of F, whatever the class of H;
%                  complex where F is
%     Where F is a DeviceArray, so is the result. Where it is a gpuArray of
%     MATLAB's, so is the result, on the same GPU and not by way of the host. H
%     is neither. gpuArrays were not tried in MATLAB yet.
%
%   Options, as name and value: character rows or strings, in upper or lower
%   case; a name may be shortened as long as it stays unique
%     'Backend'       'auto' (the default)  the GPU where one is usable; else
%                                           the CPU, and one warning a session
%                                           says why
%                     'cuda'                the GPU, or the error noDevice
%                     'cpu'                 the CPU
%                     'fastest'             the one of the two that takes less
%                                           time for this call, as guessed
%                                           and then measured
%     'Device'        which GPU, a whole number counted from 1 as GPUDEVICE
%                     does. One that is not there is an error: no call that
%                     names a GPU falls back to the CPU. With 'fastest' it is
%                     that GPU or the CPU. An array of the host's may go over
%                     several at once: [1 2] names them, and 'all' is all there
%                     are
%     'Distributed'   true under MPI: the arrays of all ranks, one behind the
%                     other along the last dimension, are one array, of which
%                     each rank passes a part and gets a part. A number says
%                     along which dimension instead: see
%                     StencilConstantMemory_CUDA. F is real
%     'Boundary'      the ghost values, which surround the array, as IMFILTER
%                     and PADARRAY have them; they are used like any sample
%                     a real number  this one everywhere; 0 unless given. Of any
%                                    numeric class, Inf and NaN too
%                     'replicate'    the nearest sample:      1 1 | 1 2 3 | 3 3
%                     'symmetric'    the array mirrored:      2 1 | 1 2 3 | 3 2
%                     'mirror'       ... at its last sample:  3 2 | 1 2 3 | 2 1
%                     'circular'     the array over and over: 2 3 | 1 2 3 | 1 2
%                     {LOW, HIGH}    one of these before the first sample and
%                                    another behind the last; 'circular' is for
%                                    both ends or for none
%                     All of them go on over four samples, also from a line
%                     that is shorter. A number is rounded once to the class of
%                     F.
%     'Dim'           along which dimension, a whole number from 1 up; the first
%                     that is not 1 unless given. Along one that the array has
%                     not, or in which its size is 1, each line is one sample.
%     'Coefficients'  where the GPU reads the four coefficients; the results are
%                     the same
%                     'constant'  from constant memory; unless given
%                     'readonly'  from global memory, through the read-only data
%                                 cache, where lines lie along the first
%                                 dimension and have 16,384 samples or more, or
%                                 fewer than 100 and ghost values of 0;
%                                 elsewhere as 'constant'
%
%   Arithmetic
%     With c = [4/5 -1/5 4/105 -1/280] / h, computed in double and rounded once
%     to the class of F, for each k:
%
%       acc = 0
%       for i = 1:4,  acc = fma (c(i), f(k + i) - f(k - i), acc)
%
%     where fma (a, b, c) is a * b + c, rounded once, the difference is rounded
%     to the class of F, and a sample outside the array is a ghost value: +0, or
%     what 'Boundary' says. All of it is in the class of F, in this order
%     whatever runs it: GPU or CPU, any number of threads, any size. The results
%     have the same bits; of a NaN, only its place is promised.
%
%   Accuracy
%     Polynomials up to degree 8 are exact but for rounding. Of other functions
%     the error is about h^8 / 630 times the ninth derivative. Rounding adds
%     about eps (class (f)) / h times the size of F: with a smaller h the one
%     part falls and the other one grows. Noise in F grows as rounding does: by
%     1.17 / h.
%
%   Edges
%     Samples outside the array are zero. Where F is not zero there that is a
%     jump, and its derivative is what the first four and the last four values
%     show. They are of use where F fades to zero, or where lines are joined
%     from pieces that overlap; otherwise leave them out, as the first example
%     does. A line of eight samples or fewer has only such values.
%     Of a periodic function, sampled over whole periods, they are as good as
%     all others with 'Boundary', 'circular'. With 'symmetric' they are right
%     for a function that is even about its ends, half a sample outside.
%
%   Which is faster
%     'fastest' guesses, then measures the time on both engines: see the help of
%     StencilConstantMemory_CUDA.
%
%   Errors, in the order in which they are looked for
%     DerivativeConstantMemory:
%     numberOfInputs   none; or something else where the name of an option
%                      belongs; or a name without a value
%     numberOfOutputs  more than one
%     dataType         F is not full, and double or single, or is complex on the
%                      GPU; or H is no real, full numeric array. The text says
%                      what was got and, where there is something, what to do
%                      about it, such as full (f)
%     spacing          H is not one positive finite number
%     option           an unknown or ambiguous name, or a value that it cannot
%                      have, also of an environment variable
%     noDevice         'cuda' was asked for, or a 'Device', and it cannot be
%                      used: no driver, one that is too old, no GPU, no such
%                      index
%     busy             a call on the same GPU is still running, and this one
%                      came from inside it: from a timer or another callback.
%                      'auto' does not fall back to the CPU then, nor does
%                      'fastest'. Wait until that call is over; 'cpu' works
%                      meanwhile
%     gpuArray         MATLAB's gpuArrays cannot be used here; or the GPU of
%                      this one was reset or is not selected
%     outOfMemory      the GPU's memory is used up, by others too, or the
%                      host's. Where the host has no memory for the result, its
%                      own error comes
%     cuda             CUDA failed; the text carries its name and words
%     rank             another rank of a 'Distributed' call raised an error or
%                      left, or passes something else; or there is no MPI
%     interrupted      Ctrl-C was pressed during a long call, which ends within
%                      about a tenth of a second and returns nothing
%     internal         a fault of this library
%     notBuilt         the MEX file or its library is missing: install again, or
%                      run compile_mex
%   No error leaves the next call broken.
%
%   Warnings
%     DerivativeConstantMemory:noDevice
%                      'auto' found no usable GPU; once a session
%
%   Environment variables
%     STENCIL_BACKEND, STENCIL_DEVICE_BYTES and STENCIL_THREADS: see
%     StencilConstantMemory_CUDA.
%
%   Examples
%     % The derivative of a sine, which is off from the cosine by 4e-13
%     h = 1/16;
%     x = 0:h:10;
%     d = DerivativeConstantMemory_CUDA (sin (x), h);
%     max (abs (d(5:end-4) - cos (x(5:end-4))))
%
%     % Down the columns of a matrix, and along its rows
%     h = 0.1;
%     X = sin (0:h:3)' * cos (0:h:6);
%     dX = DerivativeConstantMemory_CUDA (X, h);
%     dY = DerivativeConstantMemory_CUDA (X, h, 'Dim', 2);
%
%     % Of a periodic function: no edges
%     phi = 2 * pi * (0:99) / 100;
%     d = DerivativeConstantMemory_CUDA (exp (sin (phi)), phi(2), ...
%                                        'Boundary', 'circular');
%
%     % In single precision, with the coefficients through the read-only cache
%     f = single (sin (0:0.1:9));
%     d = DerivativeConstantMemory_CUDA (f, 0.1, 'Coefficients', 'readonly');
%
%   Notes
%     For a vector f of finite doubles it computes what
%       c = [4/5 -1/5 4/105 -1/280];
%       StencilConstantMemory_CUDA (f, [-fliplr(c) 0 c] / h)
%     does, but for the rounding.
%     GRADIENT and DIFF take two points; they do with any length, with an error
%     that falls with h^2 and with h.
%     The input is never written to.
%
%   See also DerivativeConstantMemory_Demo, StencilConstantMemory_CUDA,
%   ConvolutionConstantMemory_CUDA, DeviceArray, ConstantMemoryDevice_CUDA,
%   compile_mex, gradient, diff.

  % Reached only where the MEX file of the same name is missing.
  error ('DerivativeConstantMemory:notBuilt', ...
         ['DerivativeConstantMemory_CUDA is not built yet: run compile_mex here, or "make build" in ' ...
          'the project''s folder.']);
end

%!demo
%! ## The derivative of exp (sin (x)) round a circle, and its error
%! n = 64;
%! x = 2 * pi * (0:n-1) / n;
%! d = DerivativeConstantMemory_CUDA (exp (sin (x)), 2 * pi / n, "Boundary", "circular");
%! off = abs (d - cos (x) .* exp (sin (x)));
%! subplot (2, 1, 1);
%! plot (x, exp (sin (x)), x, d);
%! xlabel ("x (rad)");
%! ylabel ("value (dimensionless)");
%! legend ("f (x) = exp (sin (x))", "its derivative");
%! subplot (2, 1, 2);
%! semilogy (x, max (off, eps));
%! xlabel ("x (rad)");
%! ylabel ("absolute error (1/rad)");

%!test # exact for a straight line, but for the edges
%! d = DerivativeConstantMemory_CUDA (3 * (0:0.5:20), 0.5);
%! assert (d(5:end-4), 3 * ones (1, 33), 1e-12);
%!test # of eighth order
%! h = 1/16;
%! x = 0:h:10;
%! d = DerivativeConstantMemory_CUDA (sin (x), h);
%! assert (d(5:end-4), cos (x(5:end-4)), 1e-11);
%!assert (class (DerivativeConstantMemory_CUDA (single (1:9))), "single")
%!error id=DerivativeConstantMemory:spacing DerivativeConstantMemory_CUDA (1:9, -1)
