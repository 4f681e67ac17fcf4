function u = cat (dim, varargin) %#ok<INUSL>
%cat  Arrays joined along a dimension.
%
%   Refused but for one array.
%
%   Example
%     cat (3, DeviceArray ([1 2]))   % 1 2
%
%   See also DeviceArray, horzcat, vertcat.

  u = joined ('cat', 'cat (dim, gather (u), gather (v))', varargin{:});
end
