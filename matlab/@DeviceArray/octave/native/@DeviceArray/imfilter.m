function varargout = imfilter (varargin) %#ok<STOUT>
%imfilter  Refused: a function of this library does it.

  refused ('imfilter', '', 'ConvolutionConstantMemory_CUDA (u, F)');
end
