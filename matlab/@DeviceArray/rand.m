function u = rand (varargin)
%rand  Uniform random numbers on the device, in the open interval (0, 1).
%
%   U = DeviceArray.rand (N)
%   U = DeviceArray.rand (M, N, ...)
%   U = DeviceArray.rand ([M N ...])
%   U = DeviceArray.rand (..., CLASS, NAME, VALUE, ...)
%   U = rand (..., 'like', V)
%
%   CLASS is 'double' (the default) or 'single'; the options are those of
%   DeviceArray. 'like' takes the class of V and the place where it lies.
%
%   Element i of draw d since the seed is Philox 4x32-10 of (i, d): the same
%   on the GPU and on the CPU. In a step that is recorded (iterate, compile),
%   each draw is new in each step, with the numbers of the plain loop.
%
%   Example
%     DeviceArray.rng (1);
%     u = DeviceArray.rand (2, 3, 'single');
%
%   See also randn, randi, rng.

  [dims, name, options] = sized (varargin);
  u = DeviceArray_CUDA ('rand', dims, name, options{:});
end
