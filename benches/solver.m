% Sweeps of a solver in one call, on arrays that stay on the device, from Octave's prompt, as lines of CSV:
%   solver,WHAT,N,US,BYTES,SHARE
% US is the time of a sweep in microseconds. BYTES are those that a sweep moves for an element if each filter, level and
% sum is a launch of its own, which reads each of its inputs once and writes its output once. SHARE is the bandwidth of
% these bytes over that of a copy of as many elements (u + 0, a call for each copy). It may be a little above 1 where
% every launch does one step, as the calls of the copies take time, too. Well above 1 a launch does several of these, or
% several sweeps.
%
% solver ()           the backend that a call without options uses, 10^8 elements
% solver (BACKEND, N) 'auto', 'cuda' or 'cpu', and another number
function solver (backend, n)
  if (nargin < 1), backend = 'auto'; end
  if (nargin < 2), n = 1e8; end
  find_functions ();
  side = round (sqrt (n));
  edge = round (n ^ (1 / 3));
  array = @(varargin) DeviceArray (rand (varargin{:}), 'Backend', backend);
  k3 = [1 2 1] / 4;
  k5 = [-1 16 30 16 -1] / 60;
  F = [1 2 1; 2 4 2; 1 2 1] / 16;
  S = @StencilConstantMemory_CUDA;
  C = @ConvolutionConstantMemory_CUDA;
  printf ('solver,what,n,us,bytes,share\n');

  u = array (n, 1);
  copy = @(m) copies (u, m);
  rate = 16 * n / sweep_time (copy);
  printf ('# a copy moves %.0f GB a second\n', rate / 1e3);
  report ('filter 3', @(m) S (u, k3, 'Iterations', m), n, 16, rate);
  report ('filter 3, mirror', @(m) S (u, k3, 'Iterations', m, 'Boundary', 'mirror'), n, 16, rate);
  report ('filter 3, {1, mirror}', @(m) S (u, k3, 'Iterations', m, 'Boundary', {1, 'mirror'}), n, 16, rate);
  report ('filter 3, symmetric', @(m) S (u, k3, 'Iterations', m, 'Boundary', 'symmetric'), n, 16, rate);
  report ('filters 3, 5', @(m) S (u, {k3, k5}, 'Iterations', m), n, 32, rate);
  v = array (n, 1);
  report ('filter 3 + c * older', @(m) S (u, k3, 'Iterations', m, 'Previous', v, 'Weight', -1), n, 40, rate);
  report ('filter 3 + source', @(m) S (u, k3, 'Iterations', m, 'Source', v), n, 40, rate);
  report ('filter 3 + 1', @(m) S (u, k3, 'Iterations', m, 'Source', 1), n, 32, rate);
  s = array (n, 1);
  levels = {'Previous', v, 'Weight', -1};
  report ('filter 3 + c * older + source', @(m) S (u, k3, 'Iterations', m, levels{:}, 'Source', s), n, 48, rate);
  levels = {};
  s = [];
  [u, v] = deal (array (side), array (side));
  n = side ^ 2;
  report ('3 x 3', @(m) C (u, F, 'Iterations', m), n, 16, rate);
  sides = {'circular', {0, 'mirror'}};
  report ('3 x 3, sides', @(m) C (u, F, 'Iterations', m, 'Boundary', sides), n, 16, rate);
  report ('3 x 3, mirror', @(m) C (u, F, 'Iterations', m, 'Boundary', 'mirror'), n, 16, rate);
  report ('3 x 3, symmetric', @(m) C (u, F, 'Iterations', m, 'Boundary', 'symmetric'), n, 16, rate);
  report ('3 x 3 + c * older', @(m) C (u, F, 'Iterations', m, 'Previous', v, 'Weight', -1), n, 40, rate);
  report ('filters 3 along 1, 2', @(m) S (u, {k3, k3}, 'Dim', [1 2], 'Iterations', m), n, 32, rate);
  v = [];
  u = array (edge, edge, edge);
  n = edge ^ 3;
  report ('filters 3 along 1, 2, 3', @(m) S (u, {k3, k3, k3}, 'Dim', [1 2 3], 'Iterations', m), n, 48, rate);
  K = ones (3, 3, 3) / 27;
  sides = {{0, 'mirror'}, 'circular', 'replicate'};
  report ('3 x 3 x 3, sides', @(m) C (u, K, 'Iterations', m, 'Boundary', sides), n, 16, rate);
  report ('3 x 3 x 3, replicate', @(m) C (u, K, 'Iterations', m, 'Boundary', 'replicate'), n, 16, rate);
end

function last = copies (u, m)
  for i = 1:m
    last = u + 0;
  end
end

function report (what, run, n, bytes, rate)
  least = 0.05;
  if (n < 1e5)
    least = 0.001;  % so small an array only shows that this works
  end
  us = sweep_time (run, least);
  printf ('solver,"%s",%d,%.2f,%d,%.3f\n', what, n, us, bytes, bytes * n / rate / us);
end
