function varargout = polyfit (varargin) %#ok<STOUT>
%polyfit  Refused: gather the array first.

  refused ('polyfit');
end
