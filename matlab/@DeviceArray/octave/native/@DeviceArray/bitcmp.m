function varargout = bitcmp (varargin) %#ok<STOUT>
%bitcmp  Refused: gather the array first.

  refused ('bitcmp');
end
