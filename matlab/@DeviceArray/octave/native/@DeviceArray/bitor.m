function varargout = bitor (varargin) %#ok<STOUT>
%bitor  Refused: gather the array first.

  refused ('bitor');
end
