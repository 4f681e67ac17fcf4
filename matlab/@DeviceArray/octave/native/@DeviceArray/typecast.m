function varargout = typecast (varargin) %#ok<STOUT>
%typecast  Refused: gather the array first.

  refused ('typecast');
end
