function varargout = eps (varargin) %#ok<STOUT>
%eps  Refused: gather the array first.

  refused ('eps');
end
