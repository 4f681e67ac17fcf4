function varargout = rand (varargin) %#ok<STOUT>
%rand  Refused: gather the array first.

  refused ('rand');
end
