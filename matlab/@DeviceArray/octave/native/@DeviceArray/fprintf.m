function varargout = fprintf (varargin) %#ok<STOUT>
%fprintf  Refused: gather the array first.

  refused ('fprintf', 'fprintf (template, gather (u))');
end
