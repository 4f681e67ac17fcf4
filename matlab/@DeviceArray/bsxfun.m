function c = bsxfun (f, a, b)
%bsxfun  A function of two arrays, which expand.
%
%   C = bsxfun (F, U, V)
%
%   F (U, V): operators and functions of a DeviceArray's elements expand their
%   arrays. F is a function of elements, or its name.
%
%   Example
%     gather (bsxfun (@minus, DeviceArray ([1 2; 3 4]), [1 2]))  % 0 0; 2 2
%
%   See also DeviceArray, plus.

  if nargin < 3
    tooFew ('bsxfun (F, U, V)');
  end
  if ischar (f)
    f = str2func (f);
  end
  c = f (a, b);
end
