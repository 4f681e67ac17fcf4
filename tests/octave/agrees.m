## -*- texinfo -*-
## @deftypefn {} {} agrees (@var{x}, @var{taps}, @dots{})
## Checks that StencilConstantMemory_CUDA gives for these arguments, to the bit,
## the result of @code{fma_stencil}.
## @end deftypefn

function agrees (varargin)
  agrees_with (@fma_stencil, "StencilConstantMemory_CUDA", varargin);
endfunction
