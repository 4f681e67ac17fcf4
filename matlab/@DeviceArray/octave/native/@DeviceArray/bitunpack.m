function varargout = bitunpack (varargin) %#ok<STOUT>
%bitunpack  Refused: gather the array first.

  refused ('bitunpack');
end
