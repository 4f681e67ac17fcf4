function varargout = sqrtm (varargin) %#ok<STOUT>
%sqrtm  Refused: gather the array first.

  refused ('sqrtm');
end
