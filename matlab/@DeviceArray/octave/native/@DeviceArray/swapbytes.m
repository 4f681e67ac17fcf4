function varargout = swapbytes (varargin) %#ok<STOUT>
%swapbytes  Refused: gather the array first.

  refused ('swapbytes');
end
