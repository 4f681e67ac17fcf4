## -*- texinfo -*-
## @deftypefn {} {@var{world} =} fuzz_world ()
## What the fuzzer's calls depend on beside the seed: how many usable devices
## there are, the backend that the tests are for, and how many threads there may be.
## @end deftypefn

function world = fuzz_world ()
  world.backend = getenv ("STENCIL_BACKEND");
  unsetenv ("STENCIL_THREADS");
  unsetenv ("STENCIL_DEVICE_BYTES");
  d = ConstantMemoryDevice_CUDA ();
  world.devices = d.DeviceCount * d.DeviceSupported;
  world.threads = d.Threads;
  if (strcmp (world.backend, "cuda") && world.devices == 0)
    error ("fuzz: no usable device: %s", d.BackendReason);
  endif
endfunction
