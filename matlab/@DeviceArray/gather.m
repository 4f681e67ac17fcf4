function varargout = gather (varargin)
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

  if nargout > nargin
    error ('DeviceArray:numberOfInputs', ...
           'Number of Inputs are Wrong: gather needs an array for each output, [x, y] = gather (u, v).');
  elseif nargin == 1
    varargout = {DeviceArray_CUDA('gather', varargin{1})};
    return
  end
  varargout = varargin;
  for k = 1:nargin
    if isa (varargin{k}, 'DeviceArray')
      varargout{k} = DeviceArray_CUDA ('gather', varargin{k});
    end
  end
end
