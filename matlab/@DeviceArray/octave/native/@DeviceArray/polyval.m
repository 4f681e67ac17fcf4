function varargout = polyval (varargin) %#ok<STOUT>
%polyval  Refused: gather the array first.

  refused ('polyval');
end
