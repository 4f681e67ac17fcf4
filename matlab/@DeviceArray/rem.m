function c = rem (a, b)
%rem  What is left of a division, with the sign of what is divided.
%
%   R = rem (U, N)
%
%   Element by element; one of them may be an ordinary array.
%
%   Example
%     gather (rem (DeviceArray ([-2 2 3]), 3))  % -2 2 0
%
%   See also DeviceArray, mod, fix.

  try
    c = DeviceArray_CUDA ('rem', a, b);
  catch caught
    tooFew ('rem (U, N)', nargin, caught);
  end
end
