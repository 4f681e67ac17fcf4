## -*- texinfo -*-
## @deftypefn {} {@var{x} =} noise (@var{seed}, @var{dims}, @dots{})
## Numbers of both signs with full mantissas and exponents spread over forty
## binades: nearly every fma in a chain of them rounds, so that an unfused step
## or another order of the taps shows in the bits.  The same for the same seed.
## @end deftypefn

function x = noise (seed, varargin)
  rand ("twister", seed);
  x = (rand (varargin{:}) - 0.5) .* 2 .^ floor (40 * rand (varargin{:}) - 20);
endfunction
