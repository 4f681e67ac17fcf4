function varargout = im2double (varargin) %#ok<STOUT>
%im2double  Refused: gather the array first.

  refused ('im2double');
end
