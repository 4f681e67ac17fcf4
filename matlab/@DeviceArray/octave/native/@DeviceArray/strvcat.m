function varargout = strvcat (varargin) %#ok<STOUT>
%strvcat  Refused: gather the array first.

  refused ('strvcat');
end
