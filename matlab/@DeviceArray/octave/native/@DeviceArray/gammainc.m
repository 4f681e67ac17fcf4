function varargout = gammainc (varargin) %#ok<STOUT>
%gammainc  Refused: gather the array first.

  refused ('gammainc');
end
