function varargout = besselh (varargin) %#ok<STOUT>
%besselh  Refused: gather the array first.

  refused ('besselh');
end
