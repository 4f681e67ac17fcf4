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
%   See also DeviceArray, all.

  yes = same (a, b);
  for k = 1:numel (varargin)
    yes = yes && same (a, varargin{k});
  end
end
