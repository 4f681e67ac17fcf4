## -*- texinfo -*-
## @deftypefn {} {} agrees (@var{x}, @var{taps}, @dots{})
## Raises unless StencilConstantMemory_CUDA makes of these arguments, to the bit,
## what @code{fma_stencil} does.
## @end deftypefn

function agrees (varargin)
  agrees_with (@fma_stencil, "StencilConstantMemory_CUDA", varargin);
endfunction
