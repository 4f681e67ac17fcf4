function [outputArray, previous] = StencilConstantMemory_CUDA (inputArray, kernelArray, varargin)
%StencilConstantMemory_CUDA  Filter along one dimension of an array.
%
%   OUTPUTARRAY = StencilConstantMemory_CUDA (INPUTARRAY, KERNELARRAY)
%   OUTPUTARRAY = StencilConstantMemory_CUDA (INPUTARRAY, {K1, K2, ..}, ...)
%   OUTPUTARRAY = StencilConstantMemory_CUDA (..., BOUNDARY, SHAPE, 'conv')
%   OUTPUTARRAY = StencilConstantMemory_CUDA (..., NAME, VALUE, ...)
%   [U, PREVIOUS] = StencilConstantMemory_CUDA (U, ..., 'Previous', ...)
%
%   Lays the middle of KERNELARRAY on each element of INPUTARRAY and returns
%   the dot products with the neighbourhoods. The filter is not flipped
%   (correlation, not convolution). Samples outside the array are zero, unless
%   the option 'Boundary' says otherwise.
%   Runs on an NVIDIA GPU where there is one, with the filter in constant
%   memory, else on the CPU: the same bits.
%
%   Inputs
%     INPUTARRAY   full array of class double or single, of any size. The
%                  stencil runs along the first dimension that is not 1, as
%                  FILTER does: a row along the row, a matrix down each column;
%                  the option 'Dim' names another. It may be empty. One of the
%                  host's may be complex: its real and its imaginary parts are
%                  filtered by themselves, and the result is complex. A number
%                  as the boundary is a real one.
%     KERNELARRAY  the filter: a real, full vector of class double or single, of
%                  1 to 8,191 taps; a row or a column, which makes no
%                  difference. The middle of m taps is number
%                  floor ((m + 1) / 2), as IMFILTER has it: of four the second.
%                  Or a list, a cell of 1 to 64 of them: a sweep applies one
%                  after the other, and gives the bits of as many calls.
%
%     BOUNDARY, SHAPE, 'corr' and 'conv' are IMFILTER's words, directly behind
%         the filter and in any order: 'replicate', 'symmetric', 'mirror' or
%         'circular', as for the option 'Boundary'; 'same', 'full' or 'valid',
%         as for the option 'Shape'; 'conv' flips the filter, 'corr' does not.
%         What a word says, no second word and no option may say again.
%
%   Output
%     OUTPUTARRAY  the size of INPUTARRAY (so empty for an empty one), unless a
%                  shape is given; double, but single where INPUTARRAY or a
%                  filter is
%     Where INPUTARRAY is a DeviceArray, so is the result. Where it is a
%     gpuArray of MATLAB's, so is the result, on the same GPU and not by way of
%     the host. KERNELARRAY is neither. gpuArrays were not tried in MATLAB yet.
%
%   Options, as name and value: character rows or strings, in upper or lower
%   case; a name may be shortened as long as it stays unique
%     'Boundary'    the ghost values, which surround the array, as IMFILTER and
%                   PADARRAY have them; they are multiplied like any sample
%                   a real number  this one everywhere; 0 unless given. Of any
%                                  numeric class, Inf and NaN too
%                   'replicate'    the nearest sample:      1 1 | 1 2 3 | 3 3
%                   'symmetric'    the array mirrored:      2 1 | 1 2 3 | 3 2
%                   'mirror'       ... at its last sample:  3 2 | 1 2 3 | 2 1
%                   'circular'     the array over and over: 2 3 | 1 2 3 | 1 2
%                   {LOW, HIGH}    one of these before the first sample and
%                                  another behind the last; 'circular' is for
%                                  both ends or for none
%                   All of them go on as far as the taps reach, also from an
%                   array that is shorter than that. Ghost values lie outside
%                   the array: a wall at a number is one sample before the first
%                   and one behind the last.
%                   With a list of filters the boundary holds for each of them.
%                   With a list and 'Dim', a cell with as many entries as
%                   filters has one for each filter. So with two filters {A, B}
%                   is A for the first and B for the second: for pairs write
%                   {{LOW, HIGH}, {LOW, HIGH}}.
%     'Dim'         along which dimension, a whole number from 1 up; the first
%                   that is not 1 unless given. Along one that the array has
%                   not, or in which its size is 1, each line is one sample.
%                   With a list of filters, a vector with an entry for each.
%     'Iterations'  how many sweeps: each one over what the last one gave, with
%                   the boundary taken anew. A whole number from 0 up; 1 unless
%                   given. So many sweeps give the bits of so many calls, and 0
%                   gives the input, in the class of the result.
%     'Shape'       which outputs there are, as CONV2 has it; with m taps, along
%                   the dimension of the stencil
%                   'same'   one for each sample; unless given
%                   'full'   m - 1 more: all whose taps meet a sample, with
%                            ghost values outside
%                   'valid'  m - 1 fewer: those that need no ghost value. There
%                            may be none.
%                   'full' and 'valid' go with one sweep: 'Iterations', 1. With
%                   0 sweeps the result is the input, whatever the shape.
%     'Previous'    the time level before inputArray: an array of its class and
%                   size. Where inputArray is a gpuArray, so is this, on the
%                   same device; where it is a DeviceArray, this may be an
%                   ordinary array, too. It needs 'Weight'.
%     'Weight'      a real number c: each sweep computes F * u + c * previous,
%                   with F the filter or the list; u is the previous level of
%                   the next sweep. With a second output, [u, previous] = ...,
%                   the older level comes back, too, so that a run can go on.
%                   With 0 sweeps, and without 'Every', both are as they came.
%     'Source'      added at the end of every sweep: an array, as for
%                   'Previous', or a real number
%     'Every'       m, a divisor of 'Iterations': the result has the states
%                   after m, 2 m, ... sweeps, along one more dimension behind
%                   those of inputArray; for a column, along the second
%                   None of these, nor a list of filters, goes with a 'Shape'
%                   other than 'same'. 'Previous' and 'Source' need real arrays.
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
%                   real array, of the host's or a DeviceArray: not with
%                   'Shape', lists, 'Previous', 'Source', 'Every' or several
%                   GPUs. In single, and by filters that are even or of more
%                   than 21 taps, the array has up to three dimensions
%
%   Arithmetic
%     With m = numel (kernelArray) and c = floor ((m + 1) / 2), for each i:
%
%       acc = 0
%       for k = 1:m,  acc = fma (inputArray(i + k - c), kernelArray(k), acc)
%
%     where fma (a, b, c) is a * b + c, rounded once, and a sample outside the
%     array is a ghost value: +0, or what 'Boundary' says. Where the result is
%     single, array, taps and all other numbers are rounded to single first.
%     Each of the m steps is an fma, the first one too, and they are taken in
%     this order whatever runs them: GPU or CPU, any number of threads, any
%     size. The results have the same bits; of a NaN, only its place is
%     promised.
%     Behind the last filter of a sweep 'Weight' goes on with the chain, acc =
%     fma (weight, previous(i), acc), and then 'Source' is added, rounded once
%     more. Without them nothing is added, not even zero.
%     Ghost values are multiplied like any sample, and taps that are 0 like any
%     tap: 0 * Inf and 0 * NaN are NaN. So an infinite or NaN tap gives NaN
%     where it meets a ghost value of 0, and an infinite or NaN sample does
%     under a tap that is 0, as in FILTER. Octave's CONV passes over taps that
%     are 0: see ConvolutionConstantMemory_CUDA for what to do about gaps.
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
%   Which is faster
%     Both engines give the same bits, so 'fastest' chooses by time alone. Small
%     calls run on the CPU. The first calls of a sort (one filter, about one
%     size and number of sweeps) go to the engine that is guessed to take less
%     time, by the size and the multiply-adds; three measure it. Where the guess
%     for the other engine is near, less than four times as long and less than a
%     second, three calls try it, too. From then on the quicker one is taken,
%     until the session ends. STENCIL_TRACE=1 tells each choice and both times,
%     on standard error. Where there is no GPU it is the CPU, without a warning.
%     Where the input is a DeviceArray or a gpuArray, the place decides where it
%     lies. A new DeviceArray is not for one call: its 'Backend' cannot be
%     'fastest', and STENCIL_BACKEND=fastest is 'auto' to it.
%
%   Errors, in the order in which they are looked for
%     StencilConstantMemory:
%     numberOfInputs   fewer than two; or something else where the name of an
%                      option belongs; or a name without a value
%     option           a text stands alone that is neither a word nor a name
%     numberOfOutputs  more than one, or more than two with 'Previous'
%     dataType         an input is not full and double or single: integer,
%                      logical, char, cell, struct, sparse; or kernelArray, or
%                      an array on the GPU, is complex. The text says what was
%                      got and, where there is something, what to do about it,
%                      such as full (inputArray)
%     kernelLength     kernelArray is empty
%     kernelShape      kernelArray is not a vector
%     kernelLength     kernelArray has more than 8,191 taps: FFTFILT takes less
%                      time then
%     option           an unknown or ambiguous name, or a value that it cannot
%                      have, also of an environment variable; 'full' or 'valid'
%                      with more than one sweep; 'Previous' without 'Weight', or
%                      one unlike inputArray; a complex array with 'Previous',
%                      'Source' or 'Distributed'
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
%     StencilConstantMemory:noDevice
%                      'auto' found no usable GPU; once a session
%     StencilConstantMemory:swapped
%                      inputArray is a vector, and shorter than kernelArray: the
%                      array comes first; once a session
%
%   Environment variables
%     STENCIL_BACKEND       the default of 'Backend'
%     STENCIL_DEVICE        which GPU a call uses that names none, counted from
%                           1; unless set, the one whose context is current, if
%                           one is, and else the first. Ranks of one host take
%                           its GPUs in turn
%     STENCIL_DEVICE_BYTES  how many bytes of the GPU's memory may be held,
%                           268435456 (256 MiB) unless set; larger arrays go
%                           through in pieces
%     STENCIL_THREADS       how many threads may be used at most, on the CPU and
%                           to feed the GPU; as many as there are processors
%                           unless set
%     STENCIL_TRACE         if set and not 0, each call tells how long its steps
%                           took, and what 'fastest' chose, on standard error
%
%   Examples
%     % Eleven ones over twenty ones: 6 7 8 9 10 11 ... 11 10 9 8 7 6
%     y = StencilConstantMemory_CUDA (ones (1, 20), ones (1, 11))
%
%     % A centred first derivative of each column of X, with step h
%     h = 0.1;
%     X = [sin(0:h:6); cos(0:h:6)]';
%     dX = StencilConstantMemory_CUDA (X, [-1 0 1] / (2 * h));
%
%     % The moving mean of five samples of periodic signals, the rows of X
%     X = magic (6);
%     Y = StencilConstantMemory_CUDA (X, ones (1, 5) / 5, ...
%                                     'Boundary', 'circular', 'Dim', 2);
%
%     % A thousand steps of the heat equation between two walls at 20 degrees,
%     % which stand one sample outside: before the first one and behind the last
%     u = StencilConstantMemory_CUDA (zeros (200, 1), [0.25 0.5 0.25], ...
%                                     'Boundary', 20, 'Iterations', 1000);
%
%     % A hundred thousand of them, and a line that tells how far they are
%     u = StencilConstantMemory_CUDA (rand (1000, 1), [0.25 0.5 0.25], ...
%                                     'Iterations', 1e5, 'Progress', true);
%
%     % What IMFILTER does with a row of taps and 'replicate'
%     Y = StencilConstantMemory_CUDA (magic (6), [1 2 1] / 4, ...
%                                     'Dim', 2, 'Boundary', 'replicate');
%
%     % The moving mean where all five samples are there: four values fewer
%     y = StencilConstantMemory_CUDA (rand (1, 100), ones (1, 5) / 5, ...
%                                     'Shape', 'valid');
%
%     % A moving mean of 500 samples, on the CPU
%     y = StencilConstantMemory_CUDA (rand (1, 10000), ones (1, 500) / 500, ...
%                                     'Backend', 'cpu');
%
%     % What CONV does, of a complex signal
%     z = complex (rand (1, 100), rand (1, 100));
%     y = StencilConstantMemory_CUDA (z, [1 3 3 1] / 8, 'conv', 'full');
%
%   Notes
%     For a vector x and a filter k of finite numbers
%       StencilConstantMemory_CUDA (x, k, SHAPE, 'conv')
%     computes what conv (x, k, SHAPE) does, but for the rounding, as that one
%     promises no order of the sums. A table in docs/reference.md, "Coming from
%     other functions", has FILTER, MOVMEAN, SGOLAYFILT, UPFIRDN and others.
%     The first call on a GPU takes longer, as it starts CUDA. What it sets up
%     is kept for the calls after it; "clear StencilConstantMemory_CUDA" or the
%     end of the session gives it back.
%     The input is never written to.
%
%   See also DerivativeConstantMemory_CUDA, ConvolutionConstantMemory_CUDA,
%   ConstantMemoryDevice_CUDA, StencilConstantMemory_Demo, HeatEquation_Demo,
%   Advection_Demo, compile_mex, filter, conv.

  % Reached only where the MEX file of the same name is missing.
  error ('StencilConstantMemory:notBuilt', ...
         ['StencilConstantMemory_CUDA is not built yet: run compile_mex here, or "make build" in ' ...
          'the project''s folder.']);
end

%!demo
%! ## A noisy sine, smoothed by a Gaussian of 21 taps
%! t = (0:399) / 400;
%! noisy = sin (2 * pi * 3 * t) + 0.4 * cos (1e4 * t .^ 2);
%! taps = exp (-0.5 * ((-10:10) / 4) .^ 2);
%! smooth = StencilConstantMemory_CUDA (noisy, taps / sum (taps), "Boundary", "replicate");
%! plot (t, noisy, t, smooth, "linewidth", 2);
%! xlabel ("time (s)");
%! ylabel ("signal (dimensionless)");
%! legend ("samples", "smoothed by 21 taps");

%!test
%! y = StencilConstantMemory_CUDA (ones (1, 20), ones (1, 11));
%! assert (y, [6:10, 11 * ones(1, 10), 10:-1:6]);
%!test
%! assert (StencilConstantMemory_CUDA ([1 2; 3 4; 5 6], [1 10 100]), [310 420; 531 642; 53 64]);
%!assert (StencilConstantMemory_CUDA (1:4, [1 0 0], "Boundary", "circular", "Iterations", 2), [3 4 1 2])
%!assert (StencilConstantMemory_CUDA (1:4, [1 2 1], "Backend", "cpu"), StencilConstantMemory_CUDA (1:4, [1 2 1]))
%!assert (StencilConstantMemory_CUDA (1:4, [1 10]), [21 32 43 4])
%!assert (StencilConstantMemory_CUDA ([1 2i 3], [1 10]), [1+20i 30+2i 3])
%!assert (class (StencilConstantMemory_CUDA (single (1:4), [1 1])), "single")
%!error id=StencilConstantMemory:kernelLength StencilConstantMemory_CUDA (1:4, [])
%!assert (StencilConstantMemory_CUDA (1:5, [1 2 4], "Shape", "full"), conv (1:5, [4 2 1], "full"))
%!assert (StencilConstantMemory_CUDA (1:5, [1 2 4], "Shape", "valid"), conv (1:5, [4 2 1], "valid"))
