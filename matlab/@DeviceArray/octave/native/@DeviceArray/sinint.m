function varargout = sinint (varargin) %#ok<STOUT>
%sinint  Refused: gather the array first.

  refused ('sinint');
end
