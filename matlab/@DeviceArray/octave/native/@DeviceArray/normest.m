function varargout = normest (varargin) %#ok<STOUT>
%normest  Refused: gather the array first.

  refused ('normest');
end
