function n = device (this)
%device  The number of the GPU on which an array lies, or 0 for the CPU.
%
%   N = device (U)
%
%   Example
%     device (DeviceArray (1, 'Backend', 'cpu'))  % 0
%
%   See also DeviceArray, ConstantMemoryDevice_CUDA.

  n = DeviceArray_CUDA ('where', this).Device;
end
