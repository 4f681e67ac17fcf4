function varargout = issorted (varargin) %#ok<STOUT>
%issorted  Refused: gather the array first.

  refused ('issorted');
end
