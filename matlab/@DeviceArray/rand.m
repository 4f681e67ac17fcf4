function varargout = rand (varargin) %#ok<STOUT>
%rand  Refused: random numbers are made by the host.
%
%   Example
%     u = DeviceArray (rand (3));
%
%   See also DeviceArray, zeros.

  refuse ('rand', 'rand (gather (n), ...)', 'The host makes random numbers: DeviceArray (rand (...)). Sizes are ordinary numbers. ');
end
