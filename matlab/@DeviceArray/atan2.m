function c = atan2 (y, x)
%atan2  Angles of points with coordinates X and Y.
%
%   C = atan2 (Y, X)
%
%   Element by element, in radians from -pi to pi. One of them may be an
%   ordinary array.
%
%   Example
%     gather (atan2 (DeviceArray ([0 1]), [1 0])) / pi  % 0 0.5
%
%   See also DeviceArray, hypot.

  try
    c = DeviceArray_CUDA ('atan2', y, x);
  catch caught
    tooFew ('atan2 (Y, X)', nargin, caught);
  end
end
