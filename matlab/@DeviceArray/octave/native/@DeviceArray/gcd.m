function varargout = gcd (varargin) %#ok<STOUT>
%gcd  Refused: gather the array first.

  refused ('gcd');
end
