% scale (RESULTS, PICTURE)  What several ranks and several GPUs gain: a model, fitted to what was measured, and what it
% says of more of them. Prints the tables of docs/scale.md and draws its picture.
%
% RESULTS is the output of benches/ranks. Measurements on GPUs stand below, from
% BENCHMARKS.md.
function scale (results, picture)
  here = fileparts (mfilename ('fullpath'));
  if (nargin < 1), results = fullfile (here, '..', 'docs', 'measurements', 'ranks.csv'); end
  if (nargin < 2), picture = fullfile (here, '..', 'docs', 'scale.png'); end
  ranks = of_ranks (results);
  gpus = of_gpus ();
  draw (ranks, gpus, picture);
end

% ---- ranks on a processor

% Times for an element of P ranks over those of one process without MPI, as measured and by the model.
function fit = of_ranks (results)
  % benches/rank_times.m's calls: multiply-adds, elements of a plane for the
  % total number of elements, ranks, sweeps.
  whats = {'strong: 3 taps', 3, @(n) 1; 'strong: 3 x 3', 9, @(n) 2000; 'strong: 3 x 3 x 3', 27, @(n) 14400; ...
           'weak: 3 taps', 3, @(n) 1; 'weak: 3 x 3', 9, @(n) 2000; 'thin: 3 x 3 x 3', 27, @(n) 14400};
  [names, ranks, elements, sweeps, seconds] = textread_csv (results);
  % The machine's speed varies: the measured values are ratios within one turn
  % of benches/ranks, and of these the median.
  turns = cumsum (strcmp (names, 'a call') & ranks == 0);
  counts = unique (ranks(ranks > 0))';
  pick = @(what, p) strcmp (names, what) & ranks == p;
  rows_of = size (whats, 1);
  [measured, computed, rounds, depths, alone] = deal (zeros (rows_of, numel (counts)));
  calls = arrayfun (@(p) median (seconds(pick ('a call', p))), counts);
  for w = 1:rows_of
    [what, work, area] = whats{w,:};
    mine = find (pick (what, 0), 1);
    one = median (seconds(pick (what, 0))) / elements(mine);
    for c = 1:numel (counts)
      rows = pick (what, counts(c));
      n = elements(find (rows, 1));
      s = sweeps(find (rows, 1));
      a = area (n);
      [rounds(w,c), depths(w,c), computed(w,c)] = choose (n / a, a, counts(c), s, work);
      alone(w,c) = one * n;
      of_turn = @(turn) seconds(rows & turns == turn) / n / (seconds(pick (what, 0) & turns == turn) / elements(mine));
      measured(w,c) = median (arrayfun (of_turn, 1:max (turns)));
    end
  end
  % The only fitted number: the time of an exchange, for each number of ranks
  % that share the two processors.
  fit = struct ('whats', {whats(:,1)'}, 'counts', counts, 'measured', measured, 'calls', calls);
  fit.exchange = zeros (size (counts));
  fit.model = zeros (size (measured));
  for c = 1:numel (counts)
    y = (measured(:,c) - computed(:,c)) .* alone(:,c) - calls(c);
    x = rounds(:,c) * (counts(c) > 1);
    % Each kind of call weighs the same.
    weights = 1 ./ alone(:,c);
    if (any (x)), fit.exchange(c) = max (0, sum (weights .^ 2 .* x .* y) / sum ((weights .* x) .^ 2)); end
    fit.model(:,c) = computed(:,c) + (rounds(:,c) * fit.exchange(c) + calls(c)) ./ alone(:,c);
  end
  printf ('Time for an element over that of one process with as many threads, measured / model (rounds, sweeps in each)\n');
  printf ('%-20s', 'ranks');
  printf ('%26d', counts);
  printf ('\n');
  for w = 1:rows_of
    printf ('%-20s', whats{w,1});
    for c = 1:numel (counts)
      printf ('  %6.3f / %6.3f (%3d, %3d)', measured(w,c), fit.model(w,c), rounds(w,c), depths(w,c));
    end
    printf ('\n');
  end
  % In multiply-adds of 3 taps, as src/ranks/layout.rs counts: there it is 2^18.
  rate = 3 * sweeps(find (pick ('strong: 3 taps', 0), 1)) ...
         * elements(find (pick ('strong: 3 taps', 0), 1)) / median (seconds(pick ('strong: 3 taps', 0))) / 2;
  printf ('%-20s', 'exchange, 2^18 m-a');
  printf ('%26.2f', fit.exchange * rate / 2 ^ 18);
  printf ('\n%-20s', 'call, 2^18 m-a');
  printf ('%26.2f', fit.calls * rate / 2 ^ 18);
  printf ('\n\n');
end

function [names, ranks, elements, sweeps, seconds] = textread_csv (file)
  lines = strsplit (strtrim (fileread (file)), "\n");
  lines = lines(strncmp (lines, 'ranks,', 6) & ! strncmp (lines, 'ranks,what', 10));
  fields = cellfun (@(line) strsplit (line, ','), lines, 'UniformOutput', false);
  fields = vertcat (fields{:});
  names = fields(:,2);
  numbers = str2double (fields(:,3:6));
  [ranks, elements, sweeps, seconds] = deal (numbers(:,1), numbers(:,2), numbers(:,3), numbers(:,4));
end

% Cuts sweeps into rounds as src/ranks/layout.rs does: returns their number, the
% sweeps of one, and the work of all ranks (to compute, read, write and copy)
% over that of one process. Radius 1. To copy an element, or to read and write
% it once for up to 16 sweeps, costs 20 multiply-adds; an exchange 2^18; a part
% of more than 2^24 elements is not copied.
function [rounds, depth, computed] = choose (planes, area, ranks, sweeps, work)
  n = ceil (planes / ranks);
  if (ranks == 1)
    [rounds, depth, computed] = deal (0, sweeps, 1);
    return
  end
  update = @(s) work * s + 20 * ceil (s / 16);
  best = Inf;
  k = 1;
  while (true)
    count = ceil (sweeps / k);
    s = ceil (sweeps / count);
    h = min (s, planes) * (1 + (ranks > 2));
    cost = area * (min (n + h, planes) * update (s) + 20 * (h + 2 * n / count));
    strips = area * ((n + 3 * h) * update (s) + 20 * 4 * h);
    if (n > 2 * min (s, planes) && (n * area > 2 ^ 24 || strips <= cost)), cost = strips; end
    if ((cost + 2 ^ 18) * count < best)
      best = (cost + 2 ^ 18) * count;
      [rounds, depth] = deal (count, s);
      computed = cost * count * ranks / (planes * area * update (sweeps));
    end
    if (k >= sweeps), break, end
    k = min (sweeps, max (floor (k * 9 / 8), k + 1));
  end
end

% ---- GPUs

% Time of a sweep with parts of n planes, k sweeps a round, in each way: wait
% for the exchange; three parts a device, the inner one of which is swept
% meanwhile (GPUs of one process); or strips at the ends first (ranks). The
% halos of `sides` ends are computed redundantly.
function times = rounds_of (kind, n, k, link, more, sides)
  one = kind.one / kind.planes;
  h = kind.radius * k;
  exchange = link.latency + 2 * h * kind.area * 8 / link.rate;
  launches = 2 * more ./ min (k, kind.fused);
  wait = one * (n + sides * h) + exchange ./ k;
  parts = one * (n + (4 + sides) * h) + launches + max (0, exchange - one * n * k / 3) ./ k;
  strips = one * (n + 3 * sides * h) + launches + max (0, exchange - one * n * k) ./ k;
  times = [wait; parts; strips];
end

% The best way and depth: its time and its sweeps in a round.
function [time, k] = best_round (kind, n, link, more, between_hosts)
  ks = unique (round (2 .^ (0:0.25:14)));
  ks = ks(3 * kind.radius * ks <= n);
  if (isempty (ks)), [time, k] = deal (NaN, NaN); return, end
  times = rounds_of (kind, n, ks, link, more, 2);
  if (between_hosts), times(2,:) = NaN; else, times(3,:) = NaN; end
  [time, at] = min (min (times));
  k = ks(at);
end

function gpus = of_gpus ()
  % BENCHMARKS.md, "Several GPUs": the time of a sweep on one H200 and on two,
  % in seconds; the numbers of sweeps of a launch and of a round, and of parts
  % per device.
  kinds = struct ('name', {'3 taps', '3 x 3', '3 x 3 x 3'}, 'radius', 1, ...
                  'planes', {1e8, 16384, 640}, 'area', {1, 16384, 640 ^ 2}, ...
                  'one', {22.6e-6, 0.230e-3, 0.79e-3}, 'two', {11.5e-6, 0.127e-3, 0.443e-3}, ...
                  'fused', {128, 8, 2}, 'k', {5248, 8, 2}, 'way', {1, 2, 2});
  % Between two H200 of one host: 395 GB/s each way, and 4.9 us for an exchange
  % of a few bytes. One number is fitted: the time that each part but the first
  % adds to a launch.
  nvlink = struct ('latency', 4.9e-6, 'rate', 395e9);
  off = @(kind, more) rounds_of (kind, kind.planes / 2, kind.k, nvlink, more, 1)(kind.way) / kind.two - 1;
  more = fminsearch (@(more) sumsq (arrayfun (@(kind) off (kind, more), kinds)), 10e-6);
  printf ('GPUs: a further part adds %.0f us to a launch; the model is off by', more * 1e6);
  printf (' %+.1f%%', arrayfun (@(kind) 100 * off (kind, more), kinds));
  printf ('\n');
  printf ('%-11s %4s %7s %10s %7s %7s   %4s %7s %7s\n', 'two', 'way', 'sweeps', 'measured', 'ratio', 'model', 'way', ...
          'sweeps', 'model');
  for kind = kinds
    ks = unique (round (2 .^ (0:0.25:14)));
    ks = ks(8 * kind.radius * ks <= kind.planes);
    times = rounds_of (kind, kind.planes / 2, ks, nvlink, more, 1)(1:2,:);
    [way, k] = find (times == min (times(:)), 1);
    printf ('%-11s %4d %7d %10.1f %7.2f %7.2f   %4d %7d %7.2f\n', kind.name, kind.way, kind.k, kind.two * 1e6, ...
            kind.one / kind.two, kind.one / kind.two / (1 + off (kind, more)), way, ks(k), kind.one / times(way,k));
  end
  % Between hosts nothing was measured. A network card of 400 Gbit/s a GPU at 80% of that, a copy to page-locked memory
  % and one from it at 50.8 GB/s, all one after the other; and 50 us.
  network = struct ('latency', 50e-6, 'rate', 1 / (1 / 40e9 + 2 / 50.8e9));
  gpus = struct ('kinds', kinds, 'nvlink', nvlink, 'network', network, 'more', more);
  printf ('%-11s %9s %8s %10s %10s %10s\n', 'weak', 'GPUs', 'sweeps', 'us/sweep', 'of ideal', 'G upd/s');
  for kind = kinds
    for count = [1 2 8 16 8000]
      [time, k] = model_of (gpus, kind, count, true);
      printf ('%-11s %9d %8d %10.1f %10.3f %10.4g\n', kind.name, count, k, time * 1e6, kind.one / time, ...
              kind.planes * kind.area * count / time / 1e9);
    end
  end
  printf ('%-11s %9s %8s %10s %10s %10s\n', 'strong', 'GPUs', 'sweeps', 'us/sweep', 'faster', 'G upd/s');
  for kind = kinds
    whole = scaled (kind, 64);
    for count = [1 2 8 64 512 4096 8000]
      [time, k] = model_of (gpus, whole, count);
      printf ('%-11s %9d %8d %10.1f %10.1f %10.4g\n', whole.name, count, k, time * 1e6, whole.one / time, ...
              whole.planes * whole.area / time / 1e9);
    end
  end
end

% Grows the array by this factor, along the dimension that is cut: for weak
% scaling.
function kind = scaled (kind, times)
  [kind.planes, kind.one] = deal (kind.planes * times, kind.one * times);
end

% Time of a sweep on this number of GPUs, eight in a host; with `weak`, of an
% array that grows with them.
function [time, k] = model_of (gpus, kind, count, weak)
  if (nargin > 3 && weak), kind = scaled (kind, count); end
  if (count == 1)
    [time, k] = deal (kind.one, 0);
  elseif (count <= 8)
    [time, k] = best_round (kind, kind.planes / count, gpus.nvlink, gpus.more, false);
  else
    [time, k] = best_round (kind, kind.planes / count, gpus.network, gpus.more, true);
  end
end

% ---- the picture

function draw (ranks, gpus, picture)
  warning ('off', 'Octave:gnuplot-graphics');
  warning ('off', 'print:nogs');
  graphics_toolkit ('gnuplot');
  fig = figure ('Visible', 'off', 'Color', 'w', 'Position', [100 100 1200 900]);
  colours = {[0.00 0.32 0.62], [0.80 0.25 0.00], [0.20 0.55 0.20], [0.45 0.45 0.45], [0.55 0.20 0.55], [0.95 0.62 0.00]};
  titles = {'Ranks on two processors: time over that of one process', 'Two H200: one part each (lines), three (dashed)', ...
            'Weak: each GPU keeps its part', 'Strong: 64 times the array of one GPU'};
  for p = 1:4
    [column, row] = deal (mod (p - 1, 2), floor ((p - 1) / 2));
    ax = axes ('Position', [0.07 + 0.5 * column, 0.58 - 0.5 * row, 0.41, 0.34]);
    hold (ax, 'on');
    [shown, names] = deal ([], {});
    switch (p)
      case 1
        for w = 1:numel (ranks.whats)
          plot (ax, ranks.counts, ranks.model(w,:), '--', 'Color', colours{w}, 'LineWidth', 1.5);
          shown(end+1) = plot (ax, ranks.counts, ranks.measured(w,:), 'o', 'Color', colours{w}, 'MarkerFaceColor', ...
                               colours{w}, 'MarkerSize', 7);
        end
        names = ranks.whats;
        most = max ([ranks.measured(:); ranks.model(:)]);
        set (ax, 'XLim', [0.5 8.5], 'YLim', [0, 1.8 * most], 'XTick', ranks.counts);
        xlabel (ax, 'ranks');
      case 2
        for i = 1:3
          kind = gpus.kinds(i);
          ks = unique (round (2 .^ (0:0.25:14)));
          ks = ks(ks <= kind.planes / 8);
          times = rounds_of (kind, kind.planes / 2, ks, gpus.nvlink, gpus.more, 1);
          shown(end+1) = plot (ax, ks, kind.one / 2 ./ times(1,:), '-', 'Color', colours{i}, 'LineWidth', 2);
          plot (ax, ks, kind.one / 2 ./ times(2,:), '--', 'Color', colours{i}, 'LineWidth', 1.5);
          plot (ax, kind.k, kind.one / 2 / kind.two, 'o', 'Color', colours{i}, 'MarkerFaceColor', colours{i}, ...
                'MarkerSize', 8);
          names{end+1} = kind.name;
        end
        set (ax, 'XScale', 'log', 'XLim', [1 20000], 'YLim', [0 1.05], 'XTick', [1 10 100 1000 10000], ...
             'XTickLabel', {'1', '10', '100', '1000', '10000'});
        xlabel (ax, 'sweeps in a round');
        ylabel (ax, 'of twice one device''s rate');
      otherwise
        counts = [1 2 4 8 16 32 64 128 256 512 1000 2000 4000 8000];
        for i = 1:3
          kind = gpus.kinds(i);
          if (p == 4), kind = scaled (kind, 64); end
          times = arrayfun (@(count) model_of (gpus, kind, count, p == 3), counts);
          y = kind.one ./ times;
          shown(end+1) = plot (ax, counts, y, '-', 'Color', colours{i}, 'LineWidth', 2);
          names{end+1} = kind.name;
        end
        ticks = {'1', '8', '64', '512', '8000'};
        set (ax, 'XScale', 'log', 'XLim', [1 10000], 'XTick', [1 8 64 512 8000], 'XTickLabel', ticks);
        xlabel (ax, 'GPUs, eight in a host');
        if (p == 3)
          set (ax, 'YLim', [0 1.05]);
          ylabel (ax, 'of as many times one GPU');
        else
          plot (ax, counts, counts, ':', 'Color', [0.6 0.6 0.6]);
          set (ax, 'YScale', 'log', 'YLim', [1 10000], 'YTick', [1 10 100 1000 10000], ...
               'YTickLabel', {'1', '10', '100', '1000', '10000'});
          ylabel (ax, 'times as fast as one GPU');
        end
    end
    set (ax, 'XGrid', 'on', 'YGrid', 'on', 'XMinorGrid', 'off', 'YMinorGrid', 'off', 'XMinorTick', 'off', ...
         'YMinorTick', 'off', 'Box', 'off', 'FontSize', 11);
    title (ax, titles{p}, 'FontSize', 12);
    places = {'northwest', 'southeast', 'southwest', 'northwest'};
    legend (ax, shown, names, 'Location', places{p}, 'FontSize', 10, 'Box', 'off');
  end
  print (fig, picture, '-dpngcairo');
end
