function u = horzcat (varargin)
%horzcat  Arrays beside each other.
%
%   Refused but for one array.
%
%   Example
%     horzcat (DeviceArray ([1 2]))  % 1 2
%
%   See also DeviceArray, cat.

  u = joined ('[u, v]', '[gather(u), gather(v)]', varargin{:});
end
