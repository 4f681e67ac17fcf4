function varargout = struct (varargin) %#ok<STOUT>
%struct  Refused: gather the array first.

  refused ('struct');
end
