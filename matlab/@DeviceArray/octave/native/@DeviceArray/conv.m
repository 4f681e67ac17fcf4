function varargout = conv (varargin) %#ok<STOUT>
%conv  Refused: a function of this library does it.

  refused ('conv', '', 'StencilConstantMemory_CUDA (u, k, ''full'', ''conv'')');
end
