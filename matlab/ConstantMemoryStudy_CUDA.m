function results = ConstantMemoryStudy_CUDA (study, varargin)
%ConstantMemoryStudy_CUDA  Measures when constant memory pays.
%
%   RESULTS = ConstantMemoryStudy_CUDA (STUDY)
%   RESULTS = ConstantMemoryStudy_CUDA (STUDY, NAME, VALUE, ...)
%
%   Runs kernels that do the same and differ only in the memory that they read
%   something small from, and tells what each took. Every element of every
%   kernel's output is compared with what the CPU has for it, exactly, before
%   anything is timed. It needs an NVIDIA GPU: there is nothing to measure on a
%   CPU.
%
%   The rule behind it: constant memory is 64 KiB with a small cache in each
%   multiprocessor, which gives one address at a time to all threads of a warp.
%   Where they all ask for the same one, that is as fast as a register. Where
%   they ask for different ones, these are served one after the other, at a cost
%   that grows with their number.
%
%   Studies: STUDY is one of these texts, in upper or lower case
%     'access'       Adds an entry of a table of 16384 int32, all that constant
%                    memory holds, to each element. Four ways of choosing it:
%                      'one_access_per_block'   the same for a block
%                      'one_access_per_warp'    the same for a warp
%                      'one_access_per_thread'  neighbours for neighbours
%                      'pseudo_random'          far apart for neighbours
%                    Kernels: 'constant', 'global'. Constant memory should win
%                    the first two by a little, lose the third and lose the last
%                    by far, since there a warp asks for 32 addresses.
%     'readonly'     Nine-point first derivative in single precision. All
%                    threads use the same four coefficients at the same time.
%                    Kernels: 'constant', 'readonly' (from global memory through
%                    the read-only cache) and 'argument' (of the kernel). It
%                    shows that for uniform reads of a few numbers the three are
%                    close.
%     'angles'       Every thread adds all 360 entries of a table of angles to
%                    its element: reads that are uniform, one after the other.
%                    Kernels: 'constant', 'global'. Few threads show the latency
%                    of either memory, many its throughput.
%     'convolution'  A square filter on a square image, in single precision.
%                    Kernels: 'basic' reads image and filter from global memory,
%                    'constant' the filter from constant memory, 'tiled' stages
%                    the image in shared memory, too. It shows that constant
%                    memory halves what is loaded, and that then the image is
%                    what there is to save.
%
%   Options, as name and value: character rows or strings, in upper or lower
%   case; a name may be shortened as long as it stays unique in its study
%     'access'       'Pattern'    one of the four texts; all four unless given
%                    'BlockSize'  threads a block, a multiple of 32 (a whole
%                                 number of warps) from 32 to 1024; 1024
%                    'Sums'       elements, from 1 to 2^28; 12800000 and then
%                                 128000 unless given
%     'readonly'     'Points'     elements, from 1 to 2^28; 16777216
%                    'BlockSize'  as above; 32, 64, 128, 256, 512 and 1024, one
%                                 after the other, unless given
%     'angles'       'Threads'    elements, from 1 to 2^28; 3200 and then 2^24
%                                 unless given. Blocks have 64 threads.
%     'convolution'  'Size'       rows of the image, and columns, from 1 to
%                                 16384; 4096
%                    'Radius'     taps of the filter on either side of its
%                                 middle, from 1 to 7; 2
%     each of them   'Device'     which GPU, a whole number counted from 1 as
%                                 GPUDEVICE does
%
%   Output: RESULTS, a column of structs, one for each kernel and setting. All
%   studies have the same fields, so that results can be joined: [a; b]
%     Study              the study's name
%     Kernel             as named above
%     Pattern            the way of access, or ''
%     BlockSize          threads a block
%     Elements           numbers in the output
%     MedianMs           milliseconds that a launch took: the median of Samples
%     LowerQuartileMs    the median of the lower half of Samples
%     UpperQuartileMs    the median of the upper half
%     BatchMeanMs        milliseconds of a launch, measured the simple way
%     GBPerSecond        1e9 bytes a second by MedianMs, counting for each
%                        element the 4 bytes that must be read and the 4 that
%                        must be written
%     OperationsPerByte  of 'convolution': floating-point operations for a byte
%                        loaded from global memory, as its text counts them:
%                        0.25 for 'basic', 0.5 for 'constant', and for 'tiled'
%                        what a block loads and computes. NaN in the other
%                        studies
%     Samples            milliseconds of a launch, 20 times, 1 x 20
%     Checked            elements that were compared with the CPU's: all of them
%
%   How it is timed
%     After 100 launches to warm up, 100 launches are recorded as a CUDA graph,
%     which the GPU works off without the host; a sample is a hundredth of the
%     time of one replay between two events. BatchMeanMs is a hundredth of the
%     time of 100 plain launches between two events. Where a launch takes a few
%     microseconds, as with 128000 sums, that one measures how fast launches can
%     be made, and not the kernel.
%
%   Errors, in the order in which they are looked for
%     ConstantMemoryStudy:
%     numberOfInputs   none; or something else where the name of an option
%                      belongs; or a name without a value
%     numberOfOutputs  more than one
%     study            STUDY is no text, or none of the four
%     option           a name that is no option of this study, or ambiguous; or
%                      a value that it cannot have. The text lists what there is
%     noDevice         there is no usable GPU, or not that one
%     busy             a call on the same GPU is still running, and this one
%                      came from inside it: from a timer or another callback
%     outOfMemory      the GPU's memory is used up
%     cuda             CUDA failed; the text carries its name and words
%     internal         a fault of this library; also where a kernel computed
%                      something else than the CPU
%     notBuilt         the MEX file or its library is missing: install again, or
%                      run compile_mex
%   No error leaves the next call broken.
%
%   Examples
%     Without a usable GPU the first two end with the error
%     ConstantMemoryStudy:noDevice; the last one prints a line that says so.
%
%     % How much slower is constant memory when the threads scatter?
%     r = ConstantMemoryStudy_CUDA ('access', 'Pattern', 'pseudo_random');
%     r(1).MedianMs / r(2).MedianMs
%
%     % The derivative's three kernels in blocks of 32
%     r = ConstantMemoryStudy_CUDA ('readonly', 'BlockSize', 32);
%     for k = 1:numel (r)
%       fprintf ('%-10s %.4f ms\n', r(k).Kernel, r(k).MedianMs);
%     end
%
%     % All four, as tables and a figure
%     ConstantMemoryStudy_Demo
%
%   Notes
%     A study takes some seconds, and with the largest sizes some minutes; it
%     cannot be interrupted. Others at work on the same GPU show in the samples.
%     Caches are not emptied between launches: arrays that fit into them are
%     read from there.
%
%   See also ConstantMemoryStudy_Demo, ConstantMemoryDevice_CUDA,
%   StencilConstantMemory_CUDA, DerivativeConstantMemory_CUDA,
%   ConvolutionConstantMemory_CUDA, compile_mex.

  % Reached only where the MEX file of the same name is missing.
  error ('ConstantMemoryStudy:notBuilt', ...
         ['ConstantMemoryStudy_CUDA is not built yet: run compile_mex here, or "make build" in ' ...
          'the project''s folder.']);
end

%!demo
%! ## Slowdown of constant memory when the threads of a warp read here and there
%! if (ConstantMemoryDevice_CUDA ().DeviceCount == 0)
%!   disp ("The study measures a GPU, and there is none here.");
%! else
%!   r = ConstantMemoryStudy_CUDA ("access", "Pattern", "pseudo_random", "Sums", 1e5);
%!   for k = 1:numel (r)
%!     printf ("%-10s %.4f ms\n", r(k).Kernel, r(k).MedianMs);
%!   end
%! end

%!error id=ConstantMemoryStudy:study ConstantMemoryStudy_CUDA ("weather")
%!error id=ConstantMemoryStudy:numberOfInputs ConstantMemoryStudy_CUDA ()
