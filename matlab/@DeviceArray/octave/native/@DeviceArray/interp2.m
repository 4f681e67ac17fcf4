function varargout = interp2 (varargin) %#ok<STOUT>
%interp2  Refused: gather the array first.

  refused ('interp2');
end
