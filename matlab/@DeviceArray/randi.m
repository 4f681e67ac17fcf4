function varargout = randi (varargin) %#ok<STOUT>
%randi  Refused: random numbers are made by the host.
%
%   Example
%     u = DeviceArray (randi (9, 1, 3));
%
%   See also DeviceArray, zeros.

  refuse ('randi', 'randi (gather (n), ...)', 'The host makes random numbers: DeviceArray (randi (...)). Sizes are ordinary numbers. ');
end
