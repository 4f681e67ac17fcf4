function yes = isequaln (a, b, varargin)
%isequaln  True for equal sizes and values. NaN equals NaN.
%
%   YES = isequaln (U, V, ...)
%
%   Any of them may be ordinary arrays. Classes do not matter.
%
%   Example
%     isequaln (DeviceArray ([1 NaN]), [1 NaN])  % 1
%
%   See also DeviceArray, isequal.

  if nargin == 2
    yes = same (a, b, true);
  elseif nargin < 2
    tooFew ('isequaln (U, V)');
  else
    yes = same (a, b, true) && isequaln (a, varargin{:});
  end
end
