function [P, previous] = ConvolutionConstantMemory_CUDA (N, F, varargin)
%ConvolutionConstantMemory_CUDA  Filter over an image or a volume.
%
%   P = ConvolutionConstantMemory_CUDA (N, F)
%   P = ConvolutionConstantMemory_CUDA (N, F, BOUNDARY, SHAPE, 'corr' or 'conv')
%   P = ConvolutionConstantMemory_CUDA (N, {F1, F2, ..}, ...)
%   P = ConvolutionConstantMemory_CUDA (..., NAME, VALUE, ...)
%   [U, PREVIOUS] = ConvolutionConstantMemory_CUDA (U, ..., 'Previous', ...)
%
%   Lays the middle of the filter F on each sample of N and returns the dot
%   products with the neighbourhoods. The filter is not flipped, as IMFILTER has
%   it. Samples outside N are zero, unless the option 'Boundary' says otherwise.
%   P has the class of N. But where N is double and F single, N is rounded to
%   single first, and P is single, as CONV2 has it: pass double (F) to keep
%   double.
%   Runs on an NVIDIA GPU where there is one, with the filter in constant
%   memory, else on the CPU: the same bits.
%
%   Inputs
%     N   full array: an image, a volume, or several of them in further
%         dimensions, of any size. It may be empty. Of class double, single,
%         logical, uint8, uint16, uint32, int8, int16 or int32, or a DeviceArray
%         of these; a gpuArray is double or single. One of the host's may be
%         complex: its real and its imaginary parts are filtered by themselves,
%         and P is complex. A number as the boundary is a real one.
%     F   real, full array of class double or single, of up to three dimensions
%         and of any sizes, odd or even, with up to 8,191 entries in all. Its
%         middle is entry floor ((size (F) + 1) / 2), as IMFILTER has it.
%         A filter of one page goes over each page by itself, in whatever
%         dimension (an RGB image, a batch); one of several pages goes over each
%         volume N(:,:,:,i). Of such a filter on an image, the middle page meets
%         the image and the others meet ghost values, above and below it, as
%         CONVN has it with zeros. Or a list, a cell of 1 to 64 filters: a sweep
%         applies one after the other, and gives the bits of as many calls (of
%         integers and truth values: of as many calls with double (N), rounded
%         once).
%
%     BOUNDARY, SHAPE, 'corr' and 'conv' are IMFILTER's words, directly behind F
%         and in any order: 'replicate', 'symmetric', 'mirror', 'circular' or a
%         number, as for the option 'Boundary'; 'same', 'full' or 'valid', as
%         for the option 'Shape'; 'conv' flips F in all dimensions, 'corr' does
%         not. What a word says, no second word and no option may say again.
%
%   Output
%     P   of the size of N (so empty for an empty one), unless a shape is given;
%         of the class of N, but single where N is double and F, or any filter
%         of a list, is single
%     Of integers and truth values the sums are computed in double, also where F
%     is single, and by all filters of a list. Each sweep ends with rounding
%     them, halves away from zero, and saturates:
%     what is too large for the class becomes its largest value. NaN becomes 0.
%     A truth value is true where the rounded sum is not 0. So truth values
%     are not counted: with double (N) they are.
%     Where N is a DeviceArray, so is the result. Where it is a gpuArray of
%     MATLAB's, so is the result, on the same GPU and not by way of the host. F
%     is neither. gpuArrays were not tried in MATLAB yet.
%
%   Options, as name and value: character rows or strings, in upper or lower
%   case; a name may be shortened as long as it stays unique
%     'Boundary'    the ghost values, which surround the array, as IMFILTER and
%                   PADARRAY have them; they are multiplied like any sample
%                   a real number  this one everywhere; 0 unless given. Of any
%                                  numeric class, Inf and NaN too. It is cast
%                                  to the class of N: for uint8, 300 is 255; for
%                                  logical, any number but 0 is true, and NaN is
%                                  an error
%                   'replicate'    the nearest sample:      1 1 | 1 2 3 | 3 3
%                   'symmetric'    the array mirrored:      2 1 | 1 2 3 | 3 2
%                   'mirror'       ... at its last sample:  3 2 | 1 2 3 | 2 1
%                   'circular'     the array over and over: 2 3 | 1 2 3 | 1 2
%                   All of them go on as far as the filter reaches, in each
%                   dimension, also from an array that is smaller than that. A
%                   number is rounded to single where P is single. With a list
%                   of filters the boundary holds for each of them.
%                   {ROWS, COLUMNS} or {ROWS, COLUMNS, PAGES}: a cell with an
%                                  entry for each dimension of N, or of F, each
%                                  one of the above or a pair of them,
%                                  {LOW, HIGH}, before the first sample and
%                                  behind the last.
%                                  'circular' is for both ends or for none;
%                                  above and below an image stand zeros
%                   Where sides meet, it is as if N was padded along its first
%                   dimension, then along the second, then along the third.
%     'Iterations'  how many sweeps: each one over what the last one gave, with
%                   the boundary taken anew. A whole number from 0 up; 1 unless
%                   given. So many sweeps give the bits of so many calls, and 0
%                   gives the input, in the class of the result.
%     'Shape'       which outputs there are, as CONV2 has it
%                   'same'   one for each sample of N; unless given
%                   'full'   size (F) - 1 more in each dimension: all whose
%                            entries meet a sample, with ghost values outside
%                   'valid'  size (F) - 1 fewer: those that need no ghost value.
%                            There may be none.
%                   'full' and 'valid' go with one sweep: 'Iterations', 1. With
%                   0 sweeps the result is N, whatever the shape.
%     'Previous'    the time level before N: an array of its class and size.
%                   With a gpuArray N it is a gpuArray on the same device;
%                   where it is a DeviceArray, this may be an ordinary array,
%                   too. It needs 'Weight'.
%     'Weight'      a real number c: each sweep computes F * u + c * previous,
%                   with F the filter or the list; u is the previous level of
%                   the next sweep. With a second output, [u, previous] = ...,
%                   the older level comes back, too, so that a run can go on.
%                   With 0 sweeps, and without 'Every', both are as they came,
%                   in the class of the result.
%     'Source'      added at the end of every sweep: an array, as for
%                   'Previous', or a real number
%     'Every'       m, a divisor of 'Iterations': the result has the states
%                   after m, 2 m, ... sweeps, along one more dimension behind
%                   those of N; for a column, along the second
%                   None of these, nor a list of filters, goes with a 'Shape'
%                   other than 'same'.
%                   'Previous', 'Source' and 'Every' go with N of class double
%                   or single; 'Previous' and 'Source' need real arrays.
%     'Progress'    true or false (the default): whether a call that takes
%                   longer than half a second prints a line that tells how far
%                   it is, how many samples a second it updates, and how long
%                   it will take; when it is done, how long it took. A sweep
%                   counts each sample once for every filter of a list, and
%                   once more with a level or a source. Where Octave prints
%                   to a file or a pipe, it writes a line every ten seconds.
%     'Backend'     'auto' (the default)  the GPU where one is usable; else the
%                                         CPU, and one warning a session says
%                                         why
%                   'cuda'                the GPU, or the error noDevice
%                   'cpu'                 the CPU
%                   'fastest'             the one of the two that takes less
%                                         time for this call, as guessed
%                                         and then measured
%     'Device'      which GPU, a whole number counted from 1 as GPUDEVICE does.
%                   One that is not there is an error: no call that names a GPU
%                   falls back to the CPU. With 'fastest' it is that GPU or the
%                   CPU. An array of the host's may go over several at once:
%                   [1 2] names them, each once, and 'all' is all there are.
%                   Each computes a part of it, and the result has the same
%                   bits. What is too small to gain stays on the first
%     'Distributed' true under MPI: the arrays of all ranks, one behind the
%                   other along the last dimension (a column's is 1), are one
%                   array. Each rank passes its part and gets its part, with
%                   the bits that one process gives. All ranks make the call,
%                   and an error of one is an error of all. A number says along
%                   which dimension instead. It goes with one filter of one
%                   real array of up to three dimensions, of the host's or a
%                   DeviceArray: not with 'Shape', lists, 'Previous', 'Source',
%                   'Every' or several GPUs
%
%   Arithmetic
%     With c = floor ((size (F) + 1) / 2), for each sample (x, y, z) of P:
%
%       acc = 0
%       for k = 1:size (F, 3),  for j = 1:size (F, 2),  for i = 1:size (F, 1)
%         acc = fma (N(x + i - c(1), y + j - c(2), z + k - c(3)), F(i,j,k), acc)
%
%     where fma (a, b, c) is a * b + c, rounded once, and a sample outside the
%     array is a ghost value: +0, or what 'Boundary' says. Where one of N and F
%     is single and the other one double, both are rounded to single first. Each
%     step is an fma, the first one too, and they are taken in the filter's
%     column-major order whatever runs them: GPU or CPU, any number of threads,
%     any size. The results have the same bits; of a NaN, only its place is
%     promised.
%     Behind the last filter of a sweep 'Weight' goes on with the chain, acc =
%     fma (weight, previous(x,y,z), acc), and then 'Source' is added, rounded
%     once more. Without them nothing is added, not even zero. Where P is
%     single, each of 'Weight', 'Previous' and 'Source' is rounded to single
%     first, whether it is a number or an array.
%     Ghost values are multiplied like any sample. So an infinite or NaN tap
%     gives NaN where it meets a ghost value of 0, and an infinite 'Boundary'
%     does under a tap that is 0: 0 * Inf is NaN.
%
%   Zeros, NaN and gaps
%     Entries of F that are 0 are multiplied, too: a NaN or an infinity in N
%     spreads to all outputs whose filter lies over it, as with FILTER. Octave's
%     CONV2, CONVN and IMFILTER and SciPy's correlate pass over entries of 0. Of
%     zeros (5) with a NaN in the middle, [0 1 0; 1 -4 1; 0 1 0] makes 9 NaN
%     here and 5 there. The way out is to fill the gaps, and to divide by what
%     the filter weighs where there are samples (a normalised convolution), or
%     to set NaN what a weight other than 0 takes from a gap: see the examples.
%
%   Many sweeps
%     Sweeps pay where a result is the input of the next call: the steps of a
%     differential equation, or a smoothing that is repeated. One call with
%     'Iterations' reads its input once and writes its output once, whatever
%     their number. The array stays on the GPU between sweeps: from some sweeps
%     on the arithmetic takes the time, and not the PCIe transfers. On the CPU
%     pieces of it stay in the cache. Of one sweep over an array in the host's
%     memory the PCIe transfers take most of the time: there the CPU may be as
%     fast.
%     Ctrl-C ends a long call with the error interrupted, which TRY and CATCH
%     can handle in Octave; in MATLAB its own interrupt may follow. A loop with
%     TRY in it goes on after that. To end the loop, too, begin CATCH with two
%     lines (here CATCH ERR):
%
%       stopped = regexp (err.identifier, ':interrupted$');
%       if ~isempty (stopped), rethrow (err); end
%
%   Relation to CONV2 and CONVN
%     For finite numbers these give the same but for the rounding, as CONV2 and
%     CONVN promise no order of the sums:
%       ConvolutionConstantMemory_CUDA (N, F, SHAPE, 'conv')
%       conv2 (N, F, SHAPE)     % N and F of one page
%       convn (N, F, SHAPE)     % always
%     with double (N) for N of integers or truth values: there CONV2 and CONVN
%     give numbers, and P has the class of N, as IMFILTER has it.
%     Without 'conv' it is imfilter (N, F, BOUNDARY, SHAPE), which knows the
%     same words; where it has none of them, SHAPE is 'same' in both.
%
%   Which is faster
%     'fastest' guesses, then measures the time on both engines: see the help of
%     StencilConstantMemory_CUDA.
%
%   Errors, in the order in which they are looked for
%     ConvolutionConstantMemory:
%     numberOfInputs   fewer than two; or something else where the name of an
%                      option belongs; or a name without a value
%     option           a text stands alone that is neither a word nor a name
%     numberOfOutputs  more than one, or more than two with 'Previous'
%     dataType         N is of none of the classes above, or F is not double or
%                      single: int64, uint64, char, cell, struct; or one is
%                      sparse; or F, or an array on the GPU, is complex. The
%                      text says what was got and, where there is something,
%                      what to do about it, such as full (N)
%     filterSize       F is empty
%     filterShape      F has more than three dimensions
%     filterSize       F has more than 8,191 entries: FFTCONV2 and FFTCONVN take
%                      less time then
%     imageShape       N has more than three dimensions, with 'Distributed'
%     option           an unknown or ambiguous name, or a value that it cannot
%                      have, also of an environment variable; what a word has
%                      said already; 'full' or 'valid' with more than one
%                      sweep; 'Previous' without 'Weight', or one unlike N;
%                      'Previous', 'Source' or 'Every' where N is of integers or
%                      logical; 'Previous', 'Source' or 'Distributed' where N is
%                      complex
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
%     ConvolutionConstantMemory:noDevice
%                      'auto' found no usable GPU; once a session
%     ConvolutionConstantMemory:swapped
%                      F is larger than N in every dimension: the image comes
%                      first; once a session
%     ConvolutionConstantMemory:truthValues
%                      N is logical and the entries of F add up to more than 1,
%                      without their signs: results are truth values, and
%                      double (N) counts; once a session
%
%   Environment variables
%     STENCIL_BACKEND, STENCIL_DEVICE_BYTES and STENCIL_THREADS: see
%     StencilConstantMemory_CUDA.
%
%   Examples
%     % Edges by Sobel's filters: the gradient's size from its two parts
%     N = double (hypot (-60:60, (-60:60)') < 40);
%     across = ConvolutionConstantMemory_CUDA (N, [-1 0 1; -2 0 2; -1 0 1]);
%     down   = ConvolutionConstantMemory_CUDA (N, [-1 -2 -1; 0 0 0; 1 2 1]);
%     edges  = hypot (across, down);
%
%     % A Gaussian blur of 15 x 15
%     g = exp (-0.5 * ((-7:7) / 2.5) .^ 2);
%     F = g' * g;
%     blurred = ConvolutionConstantMemory_CUDA (rand (100), F / sum (F(:)));
%
%     % A blur without dark edges, forty times over
%     P = ConvolutionConstantMemory_CUDA (rand (100), ones (3) / 9, ...
%                                         'Boundary', 'replicate', ...
%                                         'Iterations', 40);
%
%     % A colour picture, uint8 in and uint8 out, with a word of IMFILTER's
%     picture = uint8 (255 * rand (120, 160, 3));
%     P = ConvolutionConstantMemory_CUDA (picture, ones (5) / 25, 'replicate');
%
%     % The mean of the neighbours that are no NaN
%     N = magic (8);
%     N(3,4:6) = NaN;
%     w = ~isnan (N);
%     filled = N;
%     filled(~w) = 0;
%     P = ConvolutionConstantMemory_CUDA (filled, ones (3)) ...
%         ./ ConvolutionConstantMemory_CUDA (double (w), ones (3));
%
%     % NaN where a weight other than 0 meets a gap, as in CONV2
%     N = magic (8);
%     N(3,4:6) = NaN;
%     filled = N;
%     filled(isnan (N)) = 0;
%     F = [0 1 0; 1 -4 1; 0 1 0];
%     P = ConvolutionConstantMemory_CUDA (filled, F);
%     gaps = double (isnan (N));
%     P(ConvolutionConstantMemory_CUDA (gaps, double (F ~= 0)) > 0) = NaN;
%
%     % The mean of the 27 neighbours in a volume, in single precision
%     V = rand (20, 30, 10, 'single');
%     P = ConvolutionConstantMemory_CUDA (V, ones (3, 3, 3) / 27);
%
%     % A membrane with a fixed edge: 100 steps of the wave equation, every 25th
%     [x, y] = meshgrid (linspace (-1, 1, 61));
%     u = exp (-20 * (x .^ 2 + y .^ 2));
%     step = [0 1 0; 1 4 1; 0 1 0] / 4;       % 2 u + dt^2 c^2 / h^2 of Laplace
%     states = ConvolutionConstantMemory_CUDA (u, step, 'Previous', u, ...
%                                              'Weight', -1, ...
%                                              'Iterations', 100, 'Every', 25);
%
%   Notes
%     Of a colour image, rows x columns x 3, a filter of one page takes each
%     colour by itself.
%     A filter that factors is quicker as a list: {g', g} for g' * g.
%     A table in docs/reference.md, "Coming from other functions", has IMFILTER,
%     CONV2, FILTER2, IMGAUSSFILT, DEL2, SciPy's functions and others.
%     The inputs are never written to.
%
%   See also ConvolutionConstantMemory_Demo, StencilConstantMemory_CUDA,
%   DerivativeConstantMemory_CUDA, DeviceArray, ConstantMemoryDevice_CUDA,
%   compile_mex, conv2, convn, imfilter.

  % Reached only where the MEX file of the same name is missing.
  error ('ConvolutionConstantMemory:notBuilt', ...
         ['ConvolutionConstantMemory_CUDA is not built yet: run compile_mex here, or "make build" in ' ...
          'the project''s folder.']);
end

%!demo
%! ## The edges of an image by Sobel's filters
%! [x, y] = meshgrid (linspace (-1, 1, 120));
%! N = double (hypot (x, y) < 0.7) - (abs (x) < 0.25 & abs (y) < 0.25);
%! across = ConvolutionConstantMemory_CUDA (N, [-1 0 1; -2 0 2; -1 0 1]);
%! down = ConvolutionConstantMemory_CUDA (N, [-1 -2 -1; 0 0 0; 1 2 1]);
%! imagesc (hypot (across, down));
%! axis image;
%! title ("size of the gradient");
%! xlabel ("column (pixels)");
%! ylabel ("row (pixels)");
%! ylabel (colorbar (), "gradient (dimensionless)");

%!assert (ConvolutionConstantMemory_CUDA (ones (4, 5), ones (3)), ...
%!        [4 6 6 6 4; 6 9 9 9 6; 6 9 9 9 6; 4 6 6 6 4])
%!test # not flipped
%! F = reshape (1:9, 3, 3);
%! assert (ConvolutionConstantMemory_CUDA (magic (6), F), conv2 (magic (6), rot90 (F, 2), "same"));
%!test # a volume, by a filter of one page and of three
%! V = reshape (1:60, 3, 4, 5);
%! assert (ConvolutionConstantMemory_CUDA (V, ones (3)), convn (V, ones (3), "same"));
%! assert (ConvolutionConstantMemory_CUDA (V, ones (3, 3, 3)), convn (V, ones (3, 3, 3), "same"));
%!assert (ConvolutionConstantMemory_CUDA (7 * ones (4), ones (3) / 8, "Boundary", "replicate"), 63 / 8 * ones (4))
%!test # of even sizes, and of many entries
%! assert (ConvolutionConstantMemory_CUDA (magic (4), [1 2; 3 4], "conv"), conv2 (magic (4), [1 2; 3 4], "same"));
%! assert (ConvolutionConstantMemory_CUDA (magic (9), ones (40, 1)), conv2 (magic (9), ones (40, 1), "same"));
%!assert (ConvolutionConstantMemory_CUDA ([1 2i; 3 4], [1 10]), [1+20i 2i; 43 4])
%!error id=ConvolutionConstantMemory:filterSize ConvolutionConstantMemory_CUDA (magic (4), ones (91))
%!test # an image of integers: rounded, saturated, of its class
%! N = uint8 ([10 20; 30 250]);
%! assert (ConvolutionConstantMemory_CUDA (N, 1.05), uint8 ([11 21; 32 255]));
%! assert (ConvolutionConstantMemory_CUDA (N > 15, [1 0 0]), [false false; false true]);
%!test # imfilter's words
%! N = magic (5);
%! F = [1 2 3; 4 5 6; 7 8 9];
%! for shape = {"same", "full", "valid"}
%!   assert (ConvolutionConstantMemory_CUDA (N, F, "conv", shape{1}), conv2 (N, F, shape{1}));
%! end
%! assert (ConvolutionConstantMemory_CUDA (N, F, "circular"), ...
%!         ConvolutionConstantMemory_CUDA (N, F, "Boundary", "circular"));
