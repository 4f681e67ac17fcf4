function varargout = randn (varargin) %#ok<STOUT>
%randn  Refused: random numbers are made by the host.
%
%   Example
%     u = DeviceArray (randn (3));
%
%   See also DeviceArray, zeros.

  refuse ('randn', 'randn (gather (n), ...)', 'The host makes random numbers: DeviceArray (randn (...)). Sizes are ordinary numbers. ');
end
