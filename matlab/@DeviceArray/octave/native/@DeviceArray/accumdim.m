function varargout = accumdim (varargin) %#ok<STOUT>
%accumdim  Refused: gather the array first.

  refused ('accumdim');
end
