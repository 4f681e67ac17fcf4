function varargout = isdefinite (varargin) %#ok<STOUT>
%isdefinite  Refused: gather the array first.

  refused ('isdefinite');
end
