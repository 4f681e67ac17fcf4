function varargout = randn (varargin) %#ok<STOUT>
%randn  Refused: gather the array first.

  refused ('randn');
end
