function varargout = bitset (varargin) %#ok<STOUT>
%bitset  Refused: gather the array first.

  refused ('bitset');
end
