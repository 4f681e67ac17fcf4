function varargout = flintmax (varargin) %#ok<STOUT>
%flintmax  Refused: gather the array first.

  refused ('flintmax');
end
