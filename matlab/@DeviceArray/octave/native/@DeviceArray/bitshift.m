function varargout = bitshift (varargin) %#ok<STOUT>
%bitshift  Refused: gather the array first.

  refused ('bitshift');
end
