function varargout = complex (varargin) %#ok<STOUT>
%complex  Refused: gather the array first.

  refused ('complex');
end
