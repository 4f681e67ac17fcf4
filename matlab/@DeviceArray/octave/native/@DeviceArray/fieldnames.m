function varargout = fieldnames (varargin) %#ok<STOUT>
%fieldnames  Refused: gather the array first.

  refused ('fieldnames');
end
