% Ranks against threads, from Octave's prompt, as lines of CSV that rank 0 prints:
%   ranks,WHAT,RANKS,ELEMENTS,SWEEPS,SECONDS
% SECONDS is the least of several calls; of the shortest ones, a mean of many. benches/ranks runs it for one rank after
% the other, and without MPI.
%
% rank_times ()         by the ranks that mpirun started, or by this process alone
% rank_times (SCALE)    with a tenth as many elements, say, for 0.1
function rank_times (scale)
  find_functions ();
  if (nargin < 1), scale = 1; end
  d = ConstantMemoryDevice_CUDA ();
  alone = isempty (getenv ('OMPI_COMM_WORLD_SIZE')) && isempty (getenv ('PMI_SIZE'));
  together = {};
  if (! alone), together = {'Distributed', true}; end
  S = @(x, k, m) StencilConstantMemory_CUDA (x, k, 'Iterations', m, together{:});
  C = @(x, f, m) ConvolutionConstantMemory_CUDA (x, f, 'Iterations', m, together{:});
  k3 = [1 2 1] / 4;
  F = [1 2 1; 2 4 2; 1 2 1] / 16;
  V = ones (3, 3, 3) / 27;
  % This rank's share of n planes.
  mine = @(n) fix (n * (d.Rank + 1) / d.Ranks) - fix (n * d.Rank / d.Ranks);
  n = round (4e6 * scale);
  side = round (2000 * sqrt (scale));
  report (d, 'a call', @() S (1:mine (64 * d.Ranks), k3, 1), 64 * d.Ranks, 1, -300);
  x = rand (mine (n), 1);
  report (d, 'strong: 3 taps', @() S (x, k3, 400), n, 400, 7);
  report (d, 'strong: one pass of 3 taps', @() S (x, k3, 1), n, 1, 15);
  x = rand (side, mine (side));
  report (d, 'strong: 3 x 3', @() C (x, F, 50), side ^ 2, 50, 7);
  x = rand (120, 120, mine (240));
  report (d, 'strong: 3 x 3 x 3', @() C (x, V, 20), 120 * 120 * 240, 20, 7);
  x = rand (round (n / 4), 1);
  report (d, 'weak: 3 taps', @() S (x, k3, 400), numel (x) * d.Ranks, 400, 5);
  x = rand (side, round (side / 4));
  report (d, 'weak: 3 x 3', @() C (x, F, 50), numel (x) * d.Ranks, 50, 5);
  % So thin that there is an exchange for every few sweeps.
  x = rand (120, 120, 4);
  report (d, 'thin: 3 x 3 x 3', @() C (x, V, 60), numel (x) * d.Ranks, 60, 5);
end

% The least time of the calls, or the mean if the number is negative. A call
% ends on all ranks or on none.
function report (d, what, call, elements, sweeps, times)
  call ();
  best = Inf;
  id = tic ();
  for t = 1:abs (times)
    one = tic ();
    call ();
    best = min (best, toc (one));
  end
  if (times < 0), best = toc (id) / -times; end
  if (d.Rank == 0)
    fdisp (stdout, sprintf ('ranks,%s,%d,%d,%d,%.6f', what, d.Ranks, elements, sweeps, best));
    fflush (stdout);
  end
end
