function device = ConstantMemoryDevice_CUDA ()
%ConstantMemoryDevice_CUDA  The GPU, the driver and this library.
%
%   DEVICE = ConstantMemoryDevice_CUDA ()
%
%   Tells what the functions of this folder would run on, and why, much as
%   GPUDEVICE does. A machine without a GPU is no error: the fields are always
%   the same ones, and what only a GPU has is '' or NaN.
%
%   Output: DEVICE, a 1 x 1 struct; numbers are double, texts are character rows
%
%     The GPU
%     Name                 its name, such as 'NVIDIA H200'
%     Index                counted from 1, as the option 'Device' counts
%     ComputeCapability    such as '9.0'
%     TotalMemory          bytes of memory
%     AvailableMemory      bytes of them that are free now
%     ConstantMemory       bytes of constant memory
%     L2CacheSize          bytes
%     MultiprocessorCount
%     MaxThreadsPerBlock
%     MaxShmemPerBlock     bytes of shared memory
%     SIMDWidth            threads in a warp
%     ClockRateKHz         peak clock of the multiprocessors
%     DeviceCount          how many GPUs CUDA sees; 0 without a driver
%     DeviceSupported      logical: this one can be used
%
%     The driver
%     DriverVersion        newest CUDA version that it supports, such as 13.0
%     KernelDriver         its own version, such as '580.159.04'
%
%     The engines
%     Backend              'cuda' or 'cpu': what a call without options uses;
%                          'fastest' where it may be either, as
%                          STENCIL_BACKEND says so;
%                          '' where an environment variable makes no sense
%     BackendReason        why, in words
%     SIMD                 what the CPU engine uses: 'avx512', 'avx2',
%                          'neon' or 'portable'
%     Threads              how many threads may be used
%     DeviceBytes          bytes of the GPU's memory that may be held
%     Outputs              what becomes of large outputs: 'direct', the host
%                          takes them as they are; 'lent', it takes them because
%                          they are made for it; 'copied', it copies each once
%                          more, with one thread. Octave 7 to 9 copy unless
%                          libstencil_lend-*.so for their version is beside this
%                          file: with Octave's headers installed (octave-dev),
%                          compile_mex builds it.
%     Rank                 which of the processes this is that MPI's launcher
%                          started together, from 0
%     Ranks                how many these are; 1 without a launcher
%
%     The build
%     Version              of this library
%     Build                commit, profile, and the header it was built with
%
%   Errors
%     ConstantMemoryDevice:
%     numberOfInputs   it takes none
%     numberOfOutputs  more than one
%     busy             a call on the GPU is still running, and this one came
%                      from inside it: from a timer or another callback
%     notBuilt         the MEX file or its library is missing: install again, or
%                      run compile_mex
%
%   Environment variables
%     STENCIL_BACKEND, STENCIL_DEVICE_BYTES and STENCIL_THREADS change what is
%     reported as they change what runs: see StencilConstantMemory_CUDA.
%
%   Examples
%     % All fields
%     ConstantMemoryDevice_CUDA ()
%
%     % Why no GPU will be used
%     device = ConstantMemoryDevice_CUDA ();
%     if strcmp (device.Backend, 'cpu')
%       fprintf ('No GPU will be used: %s\n', device.BackendReason);
%     end
%
%   See also StencilConstantMemory_CUDA, compile_mex,
%   StencilConstantMemory_Demo, gpuDevice.

  % Reached only where the MEX file of the same name is missing.
  error ('ConstantMemoryDevice:notBuilt', ...
         ['ConstantMemoryDevice_CUDA is not built yet: run compile_mex here, or "make build" in ' ...
          'the project''s folder.']);
end

%!demo
%! ## The engine of calls without options, and the reason
%! device = ConstantMemoryDevice_CUDA ();
%! printf ("%s: %s\n", device.Backend, device.BackendReason);

%!test
%! device = ConstantMemoryDevice_CUDA ();
%! assert (isstruct (device) && ischar (device.Backend) && device.Threads >= 1);
%!error id=ConstantMemoryDevice:numberOfInputs ConstantMemoryDevice_CUDA (1)
