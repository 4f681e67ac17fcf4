function v = std (u, varargin)
%std  Standard deviations of elements.
%
%   S = std (U)
%   S = std (U, WEIGHT)
%   S = std (U, WEIGHT, DIM)
%
%   WEIGHT is 0 (or []) for a division by N - 1, 1 for one by N. DIM is a
%   dimension, or 'all'; unless given, the first that is not 1. One value is an
%   ordinary number.
%
%   Example
%     std (DeviceArray ([1 2 3]))  % 1
%
%   See also DeviceArray, var, mean.

  v = sqrt (var (u, varargin{:}));
end
