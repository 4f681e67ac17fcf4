function varargout = sprintf (varargin) %#ok<STOUT>
%sprintf  Refused: gather the array first.

  refused ('sprintf', 'sprintf (template, gather (u))');
end
