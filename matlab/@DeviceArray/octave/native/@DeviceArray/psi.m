function varargout = psi (varargin) %#ok<STOUT>
%psi  Refused: gather the array first.

  refused ('psi');
end
