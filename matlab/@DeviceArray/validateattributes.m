function validateattributes (u, varargin)
%validateattributes  The host's, of the values.
%
%   validateattributes (U, CLASSES, ATTRIBUTES, ...)
%
%   CLASSES are those of the values, as underlyingType tells them.
%
%   Example
%     validateattributes (DeviceArray ([1 2]), {'numeric'}, {'positive'})
%
%   See also DeviceArray, underlyingType.

  [u, varargin{:}] = gather (u, varargin{:});
  validateattributes (u, varargin{:});
end
