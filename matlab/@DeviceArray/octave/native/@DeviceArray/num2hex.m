function varargout = num2hex (varargin) %#ok<STOUT>
%num2hex  Refused: gather the array first.

  refused ('num2hex');
end
