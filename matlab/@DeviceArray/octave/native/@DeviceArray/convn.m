function varargout = convn (varargin) %#ok<STOUT>
%convn  Refused: a function of this library does it.

  refused ('convn', '', 'ConvolutionConstantMemory_CUDA (u, F, ''conv'')');
end
