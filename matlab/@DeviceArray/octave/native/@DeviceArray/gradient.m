function varargout = gradient (varargin) %#ok<STOUT>
%gradient  Refused: gather the array first.

  refused ('gradient');
end
