function varargout = nthroot (varargin) %#ok<STOUT>
%nthroot  Refused: gather the array first.

  refused ('nthroot');
end
