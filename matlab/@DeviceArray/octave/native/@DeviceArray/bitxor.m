function varargout = bitxor (varargin) %#ok<STOUT>
%bitxor  Refused: gather the array first.

  refused ('bitxor');
end
