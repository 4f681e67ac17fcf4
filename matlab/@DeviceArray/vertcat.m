function u = vertcat (varargin)
%vertcat  Arrays above each other.
%
%   Refused but for one array.
%
%   Example
%     vertcat (DeviceArray ([1 2]))  % 1 2
%
%   See also DeviceArray, cat.

  u = joined ('[u; v]', '[gather(u); gather(v)]', varargin{:});
end
