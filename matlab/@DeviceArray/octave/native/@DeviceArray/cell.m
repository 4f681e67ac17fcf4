function varargout = cell (varargin) %#ok<STOUT>
%cell  Refused: gather the array first.

  refused ('cell');
end
