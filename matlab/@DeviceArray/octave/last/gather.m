function varargout = gather (varargin)
%gather  Ordinary arrays as they are.
%
%   X = gather (X)
%   [X1, X2, ...] = gather (X1, X2, ...)
%
%   So code runs with arrays that lie on a device and with those that do not:
%   "help @DeviceArray/gather" tells of the others. MATLAB has a function of its
%   own for this, and in Octave any other function of the name comes first.
%
%   Example
%     x = gather (1:3)
%
%   See also DeviceArray.

  if nargin == 0 || nargout > nargin
    error ('DeviceArray:numberOfInputs', ...
           'Number of Inputs are Wrong: gather needs an array for each output, x = gather (u).');
  end
  varargout = varargin;
end
