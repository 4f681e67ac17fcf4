function varargout = mat2cell (varargin) %#ok<STOUT>
%mat2cell  Refused: gather the array first.

  refused ('mat2cell');
end
