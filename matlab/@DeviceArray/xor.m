function c = xor (a, b)
%xor  Where one of two is zero and the other is not, on the device.
%
%   T = xor (U, V)
%
%   Ones and zeros. One of them may be an ordinary array.
%
%   Example
%     gather (xor (DeviceArray ([1 0 2]), 1))  % 0 1 0
%
%   See also DeviceArray.

  c = (a == 0) ~= (b == 0);
end
