## -*- texinfo -*-
## @deftypefn {} {@var{d} =} fma_derivative (@var{f}, @var{h}, @dots{})
## Returns the expected result of DerivativeConstantMemory_CUDA, to the bit,
## computed in another way.
##
## Along the first dimension of @var{f} that is not 1, the result is the chain
## @code{acc = 0; acc = fma (c(i), f(x + i*h) - f(x - i*h), acc)} for i = 1:4, in
## the class of @var{f}.  The coefficients are divided by @var{h} in double.
## Further arguments are options, of which Boundary and Dim count.
## @end deftypefn

function d = fma_derivative (f, varargin)
  h = 1;
  options = varargin;
  if (nargin > 1 && ! ischar (varargin{1}))
    h = double (varargin{1});
    options = varargin(2:end);
  endif
  c = cast ([4/5, -1/5, 4/105, -1/280] / h, class (f));
  d = over_lines (f, 9, @(padded, n) chain (padded, n, c), options);
endfunction

function acc = chain (padded, n, c)
  acc = zeros (n, columns (padded), class (padded));
  for i = 1:4
    acc = exact_fma (c(i), padded(5+i:4+i+n,:) - padded(5-i:4-i+n,:), acc);
  endfor
endfunction
