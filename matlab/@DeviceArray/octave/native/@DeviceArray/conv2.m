function varargout = conv2 (varargin) %#ok<STOUT>
%conv2  Refused: a function of this library does it.

  refused ('conv2', '', 'ConvolutionConstantMemory_CUDA (u, F, ''conv'')');
end
