function t = xor (a, b)
%xor  Where one of two is zero and the other is not.
%
%   T = xor (U, V)
%
%   One of them may be an ordinary array. One truth value is an ordinary one.
%
%   Example
%     gather (xor (DeviceArray ([1 0 2]), 1))  % 0 1 0
%
%   See also DeviceArray, any, all.

  try
    t = DeviceArray_CUDA ('xor', a, b);
  catch caught
    tooFew ('xor (U, V)', nargin, caught);
  end
end
