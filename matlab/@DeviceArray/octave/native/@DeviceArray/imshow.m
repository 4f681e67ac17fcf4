function varargout = imshow (varargin) %#ok<STOUT>
%imshow  Refused: gather the array first.

  refused ('imshow');
end
