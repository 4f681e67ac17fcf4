% Steps of solvers in one call of DeviceArray.iterate, from Octave's prompt, as lines of CSV:
%   steps,NAME,WHAT,N,US
% US is the time of a step over N x N doubles in microseconds; NAME is "ours". benches/steps.py does the same with JAX.
%
% steps ()                 the backend that a call without options uses
% steps (BACKEND, QUICK)   'auto', 'cuda' or 'cpu'; with QUICK true small arrays, to see that it works
function steps (backend, quick)
  if (nargin < 1), backend = 'auto'; end
  if (nargin < 2), quick = false; end
  find_functions ();
  sizes = [64 256 1000 2048 8192];
  least = 0.25;
  if (quick)
    sizes = 24;
    least = 0.001;
  end
  printf ('steps,name,what,n,us\n');
  for n = sizes
    array = @(x) DeviceArray (x, 'Backend', backend);
    u = array (1 - 0.5 * rand (n));
    v = array (0.25 * rand (n));
    open = array (double (rand (n) > 0.1));
    report ('gray_scott', @react, n, least, 2, u, v);
    report ('wave', @leap, n, least, 2, u, v, open);
    report ('life', @live, n, least, 1, open);
    report ('heat', @spread, n, least, 1, u);
    report ('flux', @flow, n, least, 1, u, v, open);
    report ('gradients', @descend, n, least, 4, array (zeros (n)), u, u, sum (u .^ 2, 'all'));
  end
end

function report (what, f, n, least, states, varargin)
  us = sweep_time (@(m) DeviceArray.iterate (f, m, varargin{:}, 'States', states), least);
  printf ('steps,ours,%s,%d,%.3f\n', what, n, us);
end

function [u, v] = react (u, v)
  T = [1 4 1; 4 -20 4; 1 4 1] / 6;
  w = u .* v .* v;
  lu = ConvolutionConstantMemory_CUDA (u, T, 'Boundary', 'circular');
  lv = ConvolutionConstantMemory_CUDA (v, T, 'Boundary', 'circular');
  u = u + (0.16 * lu - w + 0.037 * (1 - u));
  v = v + (0.08 * lv + w - 0.097 * v);
end

function [q, p] = leap (p, before, open)
  q = open .* ConvolutionConstantMemory_CUDA (p, [0 1 0; 1 4 1; 0 1 0] / 4, 'Boundary', 'symmetric') - before;
end

function u = live (u)
  s = ConvolutionConstantMemory_CUDA (u, [1 1 1; 1 0 1; 1 1 1], 'Boundary', 'circular');
  u = double (s == 3 | (u & s == 2));
end

function u = spread (u)
  u = ConvolutionConstantMemory_CUDA (u, [0 0.1 0; 0.1 0.6 0.1; 0 0.1 0]);
end

% Heat through a material: coefficients of each point, fluxes between neighbours, their divergence.
function u = flow (u, kx, ky)
  S = @StencilConstantMemory_CUDA;
  f = kx .* S (u, [-1 1 0], 'Dim', 1);
  g = ky .* S (u, [-1 1 0], 'Dim', 2);
  u = u + 0.1 * (S (f, [0 -1 1], 'Dim', 1) + S (g, [0 -1 1], 'Dim', 2));
end

% Conjugate gradients: the solution, the residual, the direction, and the square
% of the residual.
function [x, r, d, rho] = descend (x, r, d, rho)
  q = ConvolutionConstantMemory_CUDA (d, [0 -1 0; -1 4 -1; 0 -1 0]);
  a = rho ./ dot (d(:), q(:));
  x = x + a .* d;
  r = r - a .* q;
  next = dot (r(:), r(:));
  d = r + (next ./ rho) .* d;
  rho = next;
end
