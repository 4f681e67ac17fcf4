function varargout = colon (varargin) %#ok<STOUT>
%colon  A range of a DeviceArray is refused.
%
%   Example
%     1:gather (DeviceArray (3))  % 1 2 3
%
%   See also DeviceArray, gather.

  refuse ('a range', 'gather (u):n');
end
