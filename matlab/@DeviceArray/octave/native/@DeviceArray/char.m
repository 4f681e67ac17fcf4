function varargout = char (varargin) %#ok<STOUT>
%char  Refused: gather the array first.

  refused ('char');
end
