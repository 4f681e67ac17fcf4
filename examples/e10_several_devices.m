% Several GPUs, several machines: one array over all of them, with the bits of one.
%
% 'Device', 'all' shares an array of the host's among the GPUs of this machine; 'Device', [1 2] among these. Under MPI,
% 'Distributed', true makes the arrays of all ranks one array, one behind the other. To run this by four ranks:
%
%   mpirun -np 4 octave-cli --path matlab examples/e10_several_devices.m      % in a clone; else "pkg load stencil-mex" here

info = ConstantMemoryDevice_CUDA ();
printf ('%d GPUs; rank %d of %d\n', info.DeviceCount, info.Rank, info.Ranks);

x = cos ((1:20000)' / 50);
taps = [1 2 1] / 4;
alone = StencilConstantMemory_CUDA (x, taps, 'Iterations', 50, 'Boundary', 'circular', 'Backend', 'cpu');

if (info.DeviceSupported)
  shared = StencilConstantMemory_CUDA (x, taps, 'Iterations', 50, 'Boundary', 'circular', 'Device', 'all');
  assert (isequal (shared, alone));
  printf ('all GPUs: the same bits\n');
end

if (info.Ranks > 1)
  mine = floor (20000 * info.Rank / info.Ranks) + 1:floor (20000 * (info.Rank + 1) / info.Ranks);
  part = StencilConstantMemory_CUDA (x(mine), taps, 'Iterations', 50, 'Boundary', 'circular', 'Distributed', true);
  assert (isequal (part, alone(mine)));
  printf ('rank %d has its part, with the same bits\n', info.Rank);
end

% Pieces that do not depend on each other need none of this: call the function on each.
assert (max (abs (alone)) < 1);
