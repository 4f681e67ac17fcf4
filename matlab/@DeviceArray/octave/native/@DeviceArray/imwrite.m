function varargout = imwrite (varargin) %#ok<STOUT>
%imwrite  Refused: gather the array first.

  refused ('imwrite');
end
