function varargout = dec2base (varargin) %#ok<STOUT>
%dec2base  Refused: gather the array first.

  refused ('dec2base');
end
