function varargout = bitget (varargin) %#ok<STOUT>
%bitget  Refused: gather the array first.

  refused ('bitget');
end
