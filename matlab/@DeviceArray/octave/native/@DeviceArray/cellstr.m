function varargout = cellstr (varargin) %#ok<STOUT>
%cellstr  Refused: gather the array first.

  refused ('cellstr');
end
