function varargout = histc (varargin) %#ok<STOUT>
%histc  Refused: gather the array first.

  refused ('histc');
end
