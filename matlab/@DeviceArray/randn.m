function u = randn (varargin)
%randn  Normal random numbers on the device, of mean 0 and variance 1.
%
%   U = DeviceArray.randn (N)
%   U = DeviceArray.randn (M, N, ...)
%   U = DeviceArray.randn ([M N ...])
%   U = DeviceArray.randn (..., CLASS, NAME, VALUE, ...)
%   U = randn (..., 'like', V)
%
%   As rand: of two uniform numbers by Box and Muller.
%
%   Example
%     DeviceArray.rng (1);
%     u = DeviceArray.randn (2, 3);
%
%   See also rand, randi, rng.

  [dims, name, options] = sized (varargin);
  u = DeviceArray_CUDA ('randn', dims, name, options{:});
end
