function varargout = hist (varargin) %#ok<STOUT>
%hist  Refused: gather the array first.

  refused ('hist');
end
