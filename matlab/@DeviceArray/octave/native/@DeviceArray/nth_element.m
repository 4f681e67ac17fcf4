function varargout = nth_element (varargin) %#ok<STOUT>
%nth_element  Refused: gather the array first.

  refused ('nth_element');
end
