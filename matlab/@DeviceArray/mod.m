function c = mod (a, b)
%mod  What is left of a division, with the sign of the divisor.
%
%   R = mod (U, N)
%
%   Element by element; one of them may be an ordinary array.
%
%   Example
%     gather (mod (DeviceArray ([-2 2 3]), 3))  % 1 2 0
%
%   See also DeviceArray, rem, fix.

  try
    c = DeviceArray_CUDA ('mod', a, b);
  catch caught
    tooFew ('mod (U, N)', nargin, caught);
  end
end
