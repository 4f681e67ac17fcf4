function varargout = prctile (varargin) %#ok<STOUT>
%prctile  Refused: gather the array first.

  refused ('prctile');
end
