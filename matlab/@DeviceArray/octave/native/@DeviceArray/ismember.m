function varargout = ismember (varargin) %#ok<STOUT>
%ismember  Refused: gather the array first.

  refused ('ismember');
end
