% scale (RESULTS, PICTURE)  What several ranks and several GPUs gain, as a model that is fitted to what was measured, and
% what it says of more of them. Prints the tables of docs/scale.md and draws its picture.
%
% RESULTS is what benches/ranks printed; what was measured on GPUs stands below, from BENCHMARKS.md.
function scale (results, picture)
  here = fileparts (mfilename ('fullpath'));
  if (nargin < 1), results = fullfile (here, 'ranks.csv'); end
  if (nargin < 2), picture = fullfile (here, '..', 'docs', 'scale.png'); end
  ranks = of_ranks (results);
  gpus = of_gpus ();
  draw (ranks, gpus, picture);
end

% ---- ranks on a processor

% Times over those of one process without MPI, measured and by the model, for each kind of call.
function fit = of_ranks (results)
  % What each of benches/ranks.m's calls is: radius, multiply-adds, and elements of a plane over the planes.
  whats = {'strong: 3 taps', 1, 3, @(n) [1 n]; ...
           'strong: 3 x 3', 1, 9, @(n) sqrt([n n]); ...
           'strong: 3 x 3 x 3', 1, 27, @(n) [14400 n/14400]; ...
           'weak: 3 taps', 1, 3, @(n) [1 n]; ...
           'weak: 3 x 3', 1, 9, @(n) [sqrt(4e6) n/sqrt(4e6)]; ...
           'thin: 3 x 3 x 3', 1, 27, @(n) [14400 n/14400]};
  file = fopen (results);
  columns = textscan (file, '%s %s %f %f %f %f', 'Delimiter', ',', 'CommentStyle', '#', 'HeaderLines', 0);
  fclose (file);
  rows = strcmp (columns{1}, 'ranks') & isfinite (columns{3});
  [names, ranks, elements, sweeps, seconds] = deal (columns{2}(rows), columns{3}(rows), columns{4}(rows), ...
                                                     columns{5}(rows), columns{6}(rows));
  least = @(name, p) min (seconds(strcmp (names, name) & ranks == p));
  first = @(of, name, p) of(find (strcmp (names, name) & ranks == p, 1));
  counts = unique (ranks(ranks > 0))';
  fit = struct ('whats', {whats(:,1)'}, 'counts', counts);
  % The time of a call that computes nothing to speak of, in each number of ranks.
  calls = arrayfun (@(p) least ('a call', p), counts);
  measured = zeros (rows (whats), numel (counts));
end
