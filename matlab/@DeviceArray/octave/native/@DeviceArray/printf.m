function varargout = printf (varargin) %#ok<STOUT>
%printf  Refused: gather the array first.

  refused ('printf', 'printf (template, gather (u))');
end
