function c = hypot (a, b)
%hypot  Lengths of vectors with two coordinates.
%
%   C = hypot (U, V)
%
%   sqrt (U .^ 2 + V .^ 2), element by element, where the squares may be larger
%   than numbers can be. One of them may be an ordinary array.
%
%   Example
%     gather (hypot (DeviceArray ([3 5]), [4 12]))  % 5 13
%
%   See also DeviceArray, atan2, norm.

  try
    c = DeviceArray_CUDA ('hypot', a, b);
  catch caught
    tooFew ('hypot (U, V)', nargin, caught);
  end
end
