function varargout = pcolor (varargin) %#ok<STOUT>
%pcolor  Refused: gather the array first.

  refused ('pcolor');
end
