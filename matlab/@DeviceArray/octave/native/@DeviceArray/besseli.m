function varargout = besseli (varargin) %#ok<STOUT>
%besseli  Refused: gather the array first.

  refused ('besseli');
end
