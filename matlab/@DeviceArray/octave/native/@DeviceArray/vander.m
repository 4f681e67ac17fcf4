function varargout = vander (varargin) %#ok<STOUT>
%vander  Refused: gather the array first.

  refused ('vander');
end
