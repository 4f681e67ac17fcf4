% Engines: which one computes, and that it does not matter for the result.

info = ConstantMemoryDevice_CUDA ();
printf ('a call without options uses: %s\n', info.Backend);
if (! info.DeviceSupported)
  printf ('why not CUDA: %s\n', info.BackendReason);
end

x = sin (1:5000);
taps = [1 4 6 4 1] / 16;
engines = {'cpu'};
if (info.DeviceSupported)
  engines = {'cpu', 'cuda', 'fastest'};   % 'fastest' tries both, and remembers for calls of this sort
end
for i = 1:numel (engines)
  results{i} = StencilConstantMemory_CUDA (x, taps, 'Iterations', 20, 'Backend', engines{i});
end
assert (isequal (results{:}, results{1}));
printf ('engines that agree in every bit: %d\n', numel (engines));

% 'cuda' is a promise: without a usable GPU it is an error, and never the processor.
if (! info.DeviceSupported)
  try
    StencilConstantMemory_CUDA (x, taps, 'Backend', 'cuda');
    error ('it computed all the same');
  catch failure
    assert (failure.identifier, 'StencilConstantMemory:noDevice');
  end
end

% A setting for a whole session, and how long each part of a call takes: STENCIL_BACKEND and STENCIL_TRACE.
before = getenv ('STENCIL_BACKEND');
setenv ('STENCIL_BACKEND', 'cpu');
y = StencilConstantMemory_CUDA (x, taps, 'Iterations', 20);
setenv ('STENCIL_BACKEND', before);
assert (isequal (y, results{1}));
