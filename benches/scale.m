% scale (RESULTS, PICTURE)  What several ranks and several GPUs gain: a model, fitted to what was measured, and what it
% says of more of them. Prints the tables of docs/scale.md and draws its picture.
%
% RESULTS is what benches/ranks printed. What was measured on GPUs stands below, from BENCHMARKS.md.
function scale (results, picture)
  here = fileparts (mfilename ('fullpath'));
  if (nargin < 1), results = fullfile (here, 'ranks.csv'); end
  if (nargin < 2), picture = fullfile (here, '..', 'docs', 'scale.png'); end
  ranks = of_ranks (results);
  gpus = of_gpus ();
  draw (ranks, gpus, picture);
end

% ---- ranks on a processor

% Times for an element of P ranks over those of one process without MPI, as measured and by the model.
function fit = of_ranks (results)
  % benches/ranks.m's calls: multiply-adds, elements of a plane for so many elements in all, ranks, sweeps.
  whats = {'strong: 3 taps', 3, @(n) 1; 'strong: 3 x 3', 9, @(n) 2000; 'strong: 3 x 3 x 3', 27, @(n) 14400; ...
           'weak: 3 taps', 3, @(n) 1; 'weak: 3 x 3', 9, @(n) 2000; 'thin: 3 x 3 x 3', 27, @(n) 14400};
  [names, ranks, elements, sweeps, seconds] = textread_csv (results);
  counts = unique (ranks(ranks > 0))';
  pick = @(what, p) strcmp (names, what) & ranks == p;
  rows_of = size (whats, 1);
  [measured, computed, rounds, depths, alone] = deal (zeros (rows_of, numel (counts)));
  calls = arrayfun (@(p) min (seconds(pick ('a call', p))), counts);
  for w = 1:rows_of
    [what, work, area] = whats{w,:};
    mine = find (pick (what, 0), 1);
    one = min (seconds(pick (what, 0))) / elements(mine);
    for c = 1:numel (counts)
      rows = pick (what, counts(c));
      n = elements(find (rows, 1));
      s = sweeps(find (rows, 1));
      a = area (n);
      [rounds(w,c), depths(w,c), computed(w,c)] = choose (n / a, a, counts(c), s, work);
      alone(w,c) = one * n;
      measured(w,c) = min (seconds(rows)) / alone(w,c);
    end
  end
  % The one number that is fitted: what an exchange takes, in each number of ranks that share the two processors.
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
  % In multiply-adds of 3 taps, as src/ranks/layout.rs counts: there it is 2^20.
  rate = 3 * sweeps(find (pick ('strong: 3 taps', 0), 1)) ...
         * elements(find (pick ('strong: 3 taps', 0), 1)) / min (seconds(pick ('strong: 3 taps', 0))) / 2;
  printf ('%-20s', 'exchange, 2^20 m-a');
  printf ('%26.2f', fit.exchange * rate / 2 ^ 20);
  printf ('\n%-20s', 'call, 2^20 m-a');
  printf ('%26.2f', fit.calls * rate / 2 ^ 20);
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

% How src/ranks/layout.rs cuts so many sweeps into rounds: their number, the sweeps of one, and what is computed and
% copied over what one process computes. Radius 1; an element copied is 40 multiply-adds, an exchange 2^20.
function [rounds, depth, computed] = choose (planes, area, ranks, sweeps, work)
  n = ceil (planes / ranks);
  if (ranks == 1)
    [rounds, depth, computed] = deal (0, sweeps, 1);
    return
  end
  best = Inf;
  k = 1;
  while (true)
    count = ceil (sweeps / k);
    s = ceil (sweeps / count);
    h = min (s, planes);
    window = min (n + 2 * h, planes);
    of_window = area * (window * work * s + 40 * (window + n));
    of_strips = area * ((n + 6 * h) * work * s + 40 * 8 * h);
    cost = of_window;
    if (n > 2 * h && (n * area > 2 ^ 22 || of_strips <= of_window)), cost = of_strips; end
    if ((cost + 2 ^ 20) * count < best)
      best = (cost + 2 ^ 20) * count;
      [rounds, depth] = deal (count, s);
      computed = cost * count * ranks / (planes * area * work * sweeps);
    end
    if (k >= sweeps), break, end
    k = min (sweeps, max (floor (k * 9 / 8), k + 1));
  end
end

% ---- GPUs

% What a sweep takes with parts of n planes of `area` elements and k sweeps a round: what is computed, halos with it,
% and a k-th of a round's exchange. The best k, and the time.
function [time, k] = best_round (one, n, area, radius, link, bytes)
  ks = unique (round (2 .^ (0:0.25:14)));
  ks = ks(radius * ks <= n);
  if (isempty (ks)), [time, k] = deal (NaN, NaN); return, end
  exchange = link.latency + 2 * radius * ks * area * bytes / link.rate;
  times = one * area * (n + 2 * radius * ks) + exchange ./ ks;
  [time, at] = min (times);
  k = ks(at);
end

function gpus = of_gpus ()
  % BENCHMARKS.md, "Several GPUs": what a sweep took one H200 and two, in seconds.
  kinds = struct ('name', {'3 taps', '3 x 3', '3 x 3 x 3'}, 'radius', 1, ...
                  'planes', {1e8, 16384, 640}, 'area', {1, 16384, 640 ^ 2}, ...
                  'one', {22.6e-6, 0.230e-3, 0.79e-3}, 'two', {11.5e-6, 0.127e-3, 0.443e-3});
  % What was measured between two H200 of one host: 395 GB/s each way (../BENCHMARKS.md). One number is fitted: what a
  % round takes besides, in common to the three kinds.
  nvlink = struct ('latency', 0, 'rate', 395e9);
  latencies = logspace (-6, -3, 300);
  worst = zeros (size (latencies));
  for l = 1:numel (latencies)
    nvlink.latency = latencies(l);
    for kind = kinds
      model = model_of (kind, 2, nvlink);
      worst(l) = max (worst(l), abs (model / kind.two - 1));
    end
  end
  [off, at] = min (worst);
  nvlink.latency = latencies(at);
  printf ('GPUs: a round takes %.0f us besides its bytes; the three kinds are within %.1f%% then\n', ...
          nvlink.latency * 1e6, off * 100);
  % Between hosts nothing was measured. A network card of 400 Gbit/s a GPU at 80%, and a copy to page-locked memory and
  % one from it at 50.8 GB/s, one after the other; ten times the latency, as a guess on the safe side of MPI's.
  network = struct ('latency', 4 * nvlink.latency, 'rate', 1 / (1 / 40e9 + 2 / 50.8e9));
  gpus = struct ('kinds', kinds, 'nvlink', nvlink, 'network', network);
  printf ('%-11s %9s %8s %10s %10s %10s\n', 'weak', 'GPUs', 'sweeps', 'us/sweep', 'of ideal', 'G upd/s');
  for kind = kinds
    for count = [1 2 8 16 8000]
      [time, k] = model_of (kind, count, link_of (gpus, count), true);
      printf ('%-11s %9d %8d %10.1f %10.3f %10.4g\n', kind.name, count, k, time * 1e6, kind.one / time, ...
              kind.planes * kind.area * count / time / 1e9);
    end
  end
  printf ('%-11s %9s %8s %10s %10s %10s\n', 'strong', 'GPUs', 'sweeps', 'us/sweep', 'faster', 'G upd/s');
  for kind = kinds
    whole = scaled (kind, 64);
    for count = [1 2 8 64 512 4096 8000]
      [time, k] = model_of (whole, count, link_of (gpus, count));
      printf ('%-11s %9d %8d %10.1f %10.1f %10.4g\n', whole.name, count, k, time * 1e6, whole.one / time, ...
              whole.planes * whole.area / time / 1e9);
    end
  end
end

function link = link_of (gpus, count)
  link = gpus.nvlink;
  if (count > 8), link = gpus.network; end
end

% So many times as much, along the dimension that is cut: what weak scaling would give so many GPUs.
function kind = scaled (kind, times)
  [kind.planes, kind.one] = deal (kind.planes * times, kind.one * times);
end

% What a sweep takes so many GPUs; of an array that grows with them, if that is wanted.
function [time, k] = model_of (kind, count, link, weak)
  if (nargin > 3 && weak), kind = scaled (kind, count); end
  one = kind.one / (kind.planes * kind.area);
  if (count == 1)
    [time, k] = deal (kind.one, 0);
  else
    [time, k] = best_round (one, kind.planes / count, kind.area, kind.radius, link, 8);
  end
end

% ---- the picture

function draw (ranks, gpus, picture)
  warning ('off', 'Octave:gnuplot-graphics');
  warning ('off', 'print:nogs');
  graphics_toolkit ('gnuplot');
  fig = figure ('Visible', 'off', 'Color', 'w', 'Position', [100 100 1200 900]);
  colours = {[0.00 0.32 0.62], [0.80 0.25 0.00], [0.20 0.55 0.20], [0.45 0.45 0.45], [0.55 0.20 0.55], [0.95 0.62 0.00]};
  titles = {'Ranks on two processors: time over that of one process', 'Two H200: sweeps in a round', ...
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
        set (ax, 'XLim', [0.5 8.5], 'YLim', [0, 1.1 * most], 'XTick', ranks.counts);
        xlabel (ax, 'ranks');
      case 2
        for i = 1:3
          kind = gpus.kinds(i);
          ks = unique (round (2 .^ (0:0.25:14)));
          ks = ks(ks <= kind.planes / 4);
          exchange = gpus.nvlink.latency + 2 * ks * kind.area * 8 / gpus.nvlink.rate;
          one = kind.one / kind.planes;
          times = one * (kind.planes / 2 + 2 * ks) + exchange ./ ks;
          shown(end+1) = plot (ax, ks, kind.one / 2 ./ times, '-', 'Color', colours{i}, 'LineWidth', 2);
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
          times = arrayfun (@(count) model_of (kind, count, link_of (gpus, count), p == 3), counts);
          y = kind.one ./ times;
          shown(end+1) = plot (ax, counts, y, '-', 'Color', colours{i}, 'LineWidth', 2);
          plot (ax, 2, ifelse_ (p == 3, gpus.kinds(i).one / 2 / gpus.kinds(i).two, NaN), 'o', 'Color', colours{i}, ...
                'MarkerFaceColor', colours{i}, 'MarkerSize', 8);
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
    places = {'southwest', 'southeast', 'southwest', 'northwest'};
    legend (ax, shown, names, 'Location', places{p}, 'FontSize', 10, 'Box', 'off');
  end
  print (fig, picture, '-dpngcairo');
end

function x = ifelse_ (yes, a, b)
  x = b;
  if (yes), x = a; end
end
