function varargout = strcat (varargin) %#ok<STOUT>
%strcat  Refused: gather the array first.

  refused ('strcat');
end
