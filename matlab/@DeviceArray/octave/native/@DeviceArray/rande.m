function varargout = rande (varargin) %#ok<STOUT>
%rande  Refused: gather the array first.

  refused ('rande');
end
