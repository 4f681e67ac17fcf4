function [x, varargout] = gather (u, varargin)
%gather  The values as ordinary arrays.
%
%   X = gather (U)
%   [X1, X2, ...] = gather (U1, U2, ...)
%
%   The copy from the device, of U's class. It is exact. What is an ordinary
%   value already comes back as it is.
%
%   Example
%     x = gather (DeviceArray ([1 2 3]) + 1)
%
%   See also DeviceArray.

  if nargin == 1 && nargout < 2
    x = DeviceArray_CUDA ('gather', u);
    return
  elseif nargout > nargin
    error ('DeviceArray:numberOfInputs', ...
           'Number of Inputs are Wrong: gather needs an array for each output, [x, y] = gather (u, v).');
  end
  values = [{u}, varargin];
  for k = 1:nargin
    if isa (values{k}, 'DeviceArray')
      values{k} = DeviceArray_CUDA ('gather', values{k});
    end
  end
  [x, varargout] = deal (values{1}, values(2:end));
end
