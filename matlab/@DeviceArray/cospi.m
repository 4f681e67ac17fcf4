function c = cospi (u)
%cospi  Cosines of multiples of pi.
%
%   C = cospi (U)
%
%   cos (pi * U) without the rounding of that product, element by element.
%   Of halves they are 0.
%
%   Example
%     gather (cospi (DeviceArray ([1 0.5])))  % -1 0
%
%   See also DeviceArray, sinpi.

  if nargin < 1
    tooFew ('cospi (U)');
  end
  c = DeviceArray_CUDA ('cospi', u);
end
