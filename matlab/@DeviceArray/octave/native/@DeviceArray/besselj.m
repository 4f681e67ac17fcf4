function varargout = besselj (varargin) %#ok<STOUT>
%besselj  Refused: gather the array first.

  refused ('besselj');
end
