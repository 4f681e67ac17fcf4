function varargout = bitand (varargin) %#ok<STOUT>
%bitand  Refused: gather the array first.

  refused ('bitand');
end
