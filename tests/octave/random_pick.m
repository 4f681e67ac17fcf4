## -*- texinfo -*-
## @deftypefn {} {@var{value} =} random_pick (@var{value1}, @dots{})
## One of the values, by the generator of @code{rand}.
## @end deftypefn

function value = random_pick (varargin)
  value = varargin{randi(numel (varargin))};
endfunction
