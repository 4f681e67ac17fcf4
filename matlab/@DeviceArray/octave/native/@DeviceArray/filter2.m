function varargout = filter2 (varargin) %#ok<STOUT>
%filter2  Refused: a function of this library does it.

  refused ('filter2', '', 'ConvolutionConstantMemory_CUDA (u, F)');
end
