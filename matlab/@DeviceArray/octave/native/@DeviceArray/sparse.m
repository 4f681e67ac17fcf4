function varargout = sparse (varargin) %#ok<STOUT>
%sparse  Refused: gather the array first.

  refused ('sparse');
end
