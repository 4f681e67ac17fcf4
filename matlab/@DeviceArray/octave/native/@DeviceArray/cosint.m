function varargout = cosint (varargin) %#ok<STOUT>
%cosint  Refused: gather the array first.

  refused ('cosint');
end
