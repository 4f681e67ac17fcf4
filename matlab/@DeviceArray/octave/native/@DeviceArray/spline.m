function varargout = spline (varargin) %#ok<STOUT>
%spline  Refused: gather the array first.

  refused ('spline');
end
