function varargout = mat2str (varargin) %#ok<STOUT>
%mat2str  Refused: gather the array first.

  refused ('mat2str');
end
