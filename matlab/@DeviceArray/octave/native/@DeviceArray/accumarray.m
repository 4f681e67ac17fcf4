function varargout = accumarray (varargin) %#ok<STOUT>
%accumarray  Refused: gather the array first.

  refused ('accumarray');
end
