function varargout = linspace (varargin) %#ok<STOUT>
%linspace  Refused: gather the array first.

  refused ('linspace');
end
