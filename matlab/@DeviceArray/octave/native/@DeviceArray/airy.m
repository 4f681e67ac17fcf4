function varargout = airy (varargin) %#ok<STOUT>
%airy  Refused: gather the array first.

  refused ('airy');
end
