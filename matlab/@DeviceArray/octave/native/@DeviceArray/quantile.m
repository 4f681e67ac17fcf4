function varargout = quantile (varargin) %#ok<STOUT>
%quantile  Refused: gather the array first.

  refused ('quantile');
end
