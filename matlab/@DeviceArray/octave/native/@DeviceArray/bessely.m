function varargout = bessely (varargin) %#ok<STOUT>
%bessely  Refused: gather the array first.

  refused ('bessely');
end
