function c = sinpi (u)
%sinpi  Sines of multiples of pi.
%
%   C = sinpi (U)
%
%   sin (pi * U) without the rounding of that product, element by element.
%   Of whole numbers they are 0, with the sign of U.
%
%   Example
%     gather (sinpi (DeviceArray ([1 0.5])))  % 0 1
%
%   See also DeviceArray, cospi.

  if nargin < 1
    tooFew ('sinpi (U)');
  end
  c = DeviceArray_CUDA ('sinpi', u);
end
