function varargout = dec2hex (varargin) %#ok<STOUT>
%dec2hex  Refused: gather the array first.

  refused ('dec2hex');
end
