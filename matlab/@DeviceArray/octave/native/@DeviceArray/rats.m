function varargout = rats (varargin) %#ok<STOUT>
%rats  Refused: gather the array first.

  refused ('rats');
end
