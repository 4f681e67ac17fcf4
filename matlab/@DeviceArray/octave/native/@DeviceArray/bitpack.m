function varargout = bitpack (varargin) %#ok<STOUT>
%bitpack  Refused: gather the array first.

  refused ('bitpack');
end
