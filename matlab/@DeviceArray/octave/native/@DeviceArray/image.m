function varargout = image (varargin) %#ok<STOUT>
%image  Refused: gather the array first.

  refused ('image');
end
