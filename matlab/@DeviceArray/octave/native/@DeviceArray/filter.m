function varargout = filter (varargin) %#ok<STOUT>
%filter  Refused: gather the array first.

  refused ('filter');
end
