function varargout = linspace (varargin) %#ok<STOUT>
%linspace  Refused: the host makes it.
%
%   Example
%     u = DeviceArray (linspace (0, 1, 5));
%
%   See also DeviceArray, zeros.

  refuse ('linspace', 'linspace (gather (a), ...)', 'The host makes it: DeviceArray (linspace (...)). Ends are ordinary numbers. ');
end
