function v = imag (u)
%imag  Imaginary parts: zeros, since the numbers are real.
%
%   V = imag (U)
%
%   On the device.
%
%   Example
%     gather (imag (DeviceArray ([1 2])))  % 0 0
%
%   See also DeviceArray, real, conj.

  v = +u;
  if isa (v, 'DeviceArray')
    v = DeviceArray_CUDA ('put', v, 0, ':');
  else
    v(:) = 0;
  end
end
