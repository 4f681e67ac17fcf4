function varargout = sortrows (varargin) %#ok<STOUT>
%sortrows  Refused: gather the array first.

  refused ('sortrows');
end
