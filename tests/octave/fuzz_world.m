## -*- texinfo -*-
## @deftypefn {} {@var{world} =} fuzz_world ()
## Returns the machine's properties that the fuzzer's calls depend on: the
## number of usable devices, the backend under test, the maximal number of
## threads, and true for MPI.
## @end deftypefn

function world = fuzz_world ()
  world.backend = getenv ("STENCIL_BACKEND");
  unsetenv ("STENCIL_THREADS");
  unsetenv ("STENCIL_DEVICE_BYTES");
  d = ConstantMemoryDevice_CUDA ();
  world.devices = d.DeviceCount * d.DeviceSupported;
  world.threads = d.Threads;
  world.ranks = true;
  try
    StencilConstantMemory_CUDA (1, 1, "Backend", "cpu", "Distributed", true);
  catch err
    if (! strcmp (err.identifier, "StencilConstantMemory:rank"))
      rethrow (err);
    endif
    world.ranks = false;
  end_try_catch
  if (strcmp (world.backend, "cuda") && world.devices == 0)
    error ("fuzz: no usable device: %s", d.BackendReason);
  endif
endfunction
