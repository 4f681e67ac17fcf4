function varargout = int2str (varargin) %#ok<STOUT>
%int2str  Refused: gather the array first.

  refused ('int2str');
end
