function varargout = imagesc (varargin) %#ok<STOUT>
%imagesc  Refused: gather the array first.

  refused ('imagesc');
end
