function varargout = rat (varargin) %#ok<STOUT>
%rat  Refused: gather the array first.

  refused ('rat');
end
