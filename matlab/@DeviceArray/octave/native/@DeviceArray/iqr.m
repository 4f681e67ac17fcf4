function varargout = iqr (varargin) %#ok<STOUT>
%iqr  Refused: gather the array first.

  refused ('iqr');
end
