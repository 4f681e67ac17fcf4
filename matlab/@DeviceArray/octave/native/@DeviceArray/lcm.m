function varargout = lcm (varargin) %#ok<STOUT>
%lcm  Refused: gather the array first.

  refused ('lcm');
end
