function varargout = besselk (varargin) %#ok<STOUT>
%besselk  Refused: gather the array first.

  refused ('besselk');
end
