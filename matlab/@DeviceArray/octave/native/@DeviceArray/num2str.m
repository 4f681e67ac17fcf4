function varargout = num2str (varargin) %#ok<STOUT>
%num2str  Refused: gather the array first.

  refused ('num2str');
end
