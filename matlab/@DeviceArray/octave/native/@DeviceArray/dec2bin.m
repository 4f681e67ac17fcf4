function varargout = dec2bin (varargin) %#ok<STOUT>
%dec2bin  Refused: gather the array first.

  refused ('dec2bin');
end
