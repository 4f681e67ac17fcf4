function yes = isequal (a, b, varargin)
%isequal  Whether sizes and values are equal.
%
%   YES = isequal (U, V, ...)
%
%   Any of them may be ordinary arrays. Classes do not matter, and NaN equals
%   nothing.
%
%   Example
%     isequal (DeviceArray ([1 2]), [1 2])  % 1
%
%   See also DeviceArray, isequaln, all.

  if nargin == 2
    yes = same (a, b, false);
  elseif nargin < 2
    tooFew ('isequal (U, V)');
  else
    yes = same (a, b, false) && isequal (a, varargin{:});
  end
end
