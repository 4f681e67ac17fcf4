function result = AcousticWave_Demo (varargin)
%AcousticWave_Demo  Sound in two layers, with receivers.
%
%   AcousticWave_Demo
%   AcousticWave_Demo (FOLDER)
%   AcousticWave_Demo (FOLDER, BACKEND)
%   RESULT = AcousticWave_Demo (...)
%
%   Solves the acoustic wave equation
%       p_tt = c^2 (laplace (p) + w s)
%   on a vertical section of 3 x 3 km. The velocity c is 2000 m/s, and 3000 m/s
%   below a depth of 1.6 km. The source is the product of a Ricker pulse w in
%   time and of s, a point in space. In space the scheme is of eighth order:
%   StencilConstantMemory_CUDA with nine taps along each dimension. In time it
%   is leapfrog. With the damping a of a layer at the edges, which absorbs what
%   arrives there,
%       next = (2 p - (1 - a) before + (c dt)^2 (laplace (p) + w s)) / (1 + a)
%
%   DeviceArray.iterate records this step and takes all steps in one call. The
%   source in time comes through its option 'Values': w is another number in
%   each step. The pressure at the receivers comes back through 'Record'.
%
%   The pulse that reaches a receiver directly is known: the convolution of the
%   source with the wave of a point in two dimensions,
%       w (t - r/c cosh (x)) / (2 pi), summed over x.
%   Its largest pressure is looked for in that sum and in the traces: both
%   times are to agree to a step in time. They are distance / velocity, and the
%   tenth of a second after which the pulse is largest, and a little for the
%   tail that waves have in two dimensions. In the end the run goes on without
%   the source, until all waves have met the absorbing layer: what is left of
%   them is printed.
%
%   One figure: the pressure at two moments, and the receivers' traces.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as acoustic_demo.png. With FOLDER it is
%   always written, into FOLDER (made when it is missing), and no window opens.
%   FOLDER may be '' to give none. BACKEND is 'auto', 'cuda' or 'cpu', as for
%   DeviceArray.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               p         the pressure in the end
%               traces    the pressure at the receivers, a column a receiver
%               distances from the source to the receivers, in m
%               times     when the direct wave was largest there
%               expected  when it should have been
%               left      the largest pressure after the further steps, as a
%                         part of the largest at a receiver
%               same      whether the plain loop gives the same bits
%               faster    how many times as long the plain loop takes
%               steps     how many steps were done
%               seconds   how long they took in one call
%               backend   'cuda' or 'cpu': what it ran on
%               files     cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also DeviceArray, StencilConstantMemory_CUDA, WaveEquation_Demo,
%   ConjugateGradients_Demo, compile_mex.

  narginchk (0, 2);
  stage = demoStage ('AcousticWave_Demo', varargin{:});

  model = section ();
  half = model.steps / 2;
  [p, before, c2, damping, source] = onDevice (model, stage.options);
  record = @(p, before) p(model.row, model.columns);
  go = @(p, before, pulse) DeviceArray.iterate (@leap, numel (pulse), p, before, c2, damping, source, ...
                                                'States', 2, 'Values', pulse, 'Record', record);
  watch = tic ();
  [middle, before, early] = go (p, before, model.pulse(1:half));
  [p, before, late, info] = go (middle, before, model.pulse(half+1:end));
  pictures = {gather(middle), gather(p)};
  seconds = toc (watch);
  traces = [gather(early), gather(late)]';

  [plain, looped] = plainLoop (model, stage.options);
  same = isequal (plain, pictures{2});
  faster = looped / seconds;
  [times, expected] = arrivals (model, traces);
  p = go (p, before, zeros (1, 2 * model.steps));
  left = max (abs (p(:))) / max (abs (traces(:)));

  fprintf ('\nSound in two layers, %d x %d: %d steps in %.2f s, %.0f a second\n', ...
           size (p, 1), size (p, 2), model.steps, seconds, model.steps / seconds);
  for k = 1:numel (times)
    fprintf ('  receiver at %4.0f m: distance / velocity %.4f s, largest at %.4f s, expected %.4f s\n', ...
             model.distances(k), model.distances(k) / model.c(1), times(k), expected(k));
  end
  fprintf ('  the arrivals      off by at most %.2f ms, a step is %.2f ms\n', ...
           1000 * max (abs (times - expected)), 1000 * model.dt);
  fprintf ('  the layer         leaves %.2f %% of the pressure\n', 100 * left);
  words = {'OTHER BITS', 'the same bits'};
  fprintf ('  the plain loop    %s, in %.2f s: %.1f times as long, of %d kernels a step\n', ...
           words{1 + same}, looped, faster, info.Kernels);
  again = @(options) plainLoop (model, options);
  fprintf ('  other backend     %s\n', demoOtherBackend (stage, pictures{2}, again));
  files = stage.draw ('acoustic_demo.png', [1300 620], @() drawWaves (model, pictures, traces));

  if nargout > 0
    result = struct ('p', pictures{2}, 'traces', traces, 'distances', model.distances, 'times', times, ...
                     'expected', expected, 'left', left, 'same', same, 'faster', faster, ...
                     'steps', model.steps, 'seconds', seconds, 'backend', stage.device.Backend, 'files', {files});
  end
end

% A step in time; w is the source at that time.
function [next, p] = leap (p, before, w, c2, damping, source)
  taps = [-1/560, 8/315, -1/5, 8/5, -205/72, 8/5, -1/5, 8/315, -1/560];
  L = StencilConstantMemory_CUDA (p, taps, 'Dim', 1) + StencilConstantMemory_CUDA (p, taps, 'Dim', 2);
  next = (2 * p - (1 - damping) .* before + c2 .* (L + w * source)) ./ (1 + damping);
end

% The section in samples of h, with an absorbing layer of 40 samples around.
function model = section ()
  n = 300;
  h = 10;
  model = struct ('h', h, 'dt', 0.0015, 'steps', 800, 'c', [2000 3000], 'interface', 160);
  model.place = [100 90];
  model.row = 60;
  model.columns = [110 140 170 200 230];
  model.distances = h * hypot (model.row - model.place(1), model.columns - model.place(2));

  % The Courant numbers' squares: h goes into them, and the taps have none.
  c = model.c(1) * ones (n);
  c(model.interface+1:end,:) = model.c(2);
  model.c2 = (c * model.dt / h) .^ 2;
  depth = max (0, 40 - min (0:n-1, n-1:-1:0)) / 40;
  model.damping = 0.08 * max (repmat (depth, n, 1), repmat (depth', 1, n)) .^ 2;
  % A point: 1 over the area h^2 of a cell, times the h^2 by which the taps are to be divided.
  model.source = zeros (n);
  model.source(model.place(1), model.place(2)) = 1;
  model.pulse = ricker (model.dt * (0:model.steps-1));
end

% A Ricker pulse of 12 Hz, at its largest after 0.1 s.
function w = ricker (t)
  z = (pi * 12 * (t - 0.1)) .^ 2;
  w = (1 - 2 * z) .* exp (-z);
end

function [p, before, c2, damping, source] = onDevice (model, options)
  p = DeviceArray (zeros (size (model.c2)), options{:});
  before = DeviceArray (zeros (size (model.c2)), options{:});
  c2 = DeviceArray (model.c2, options{:});
  damping = DeviceArray (model.damping, options{:});
  source = DeviceArray (model.source, options{:});
end

% As a script without ITERATE has it: a step after another, receivers after each.
function [p, seconds] = plainLoop (model, options)
  [p, before, c2, damping, source] = onDevice (model, options);
  traces = zeros (numel (model.columns), model.steps);
  watch = tic ();
  for step = 1:model.steps
    [p, before] = leap (p, before, model.pulse(step), c2, damping, source);
    traces(:,step) = gather (p(model.row, model.columns));
  end
  p = gather (p);
  seconds = toc (watch);
end

% When the direct wave is largest at the receivers, and when it should be.
function [times, expected] = arrivals (model, traces)
  t = model.dt * (1:model.steps);
  times = zeros (1, numel (model.distances));
  expected = times;
  x = (0.5:2000) * (4 / 2000);
  for k = 1:numel (model.distances)
    travel = model.distances(k) / model.c(1);
    % From its beginning to the end of the pulse, before what the interface reflects.
    window = find (t > travel & t < travel + 0.16);
    wave = arrayfun (@(at) sum (ricker (at - travel * cosh (x))), t(window));
    expected(k) = peak (t(window), wave);
    times(k) = peak (t(window), traces(window,k)');
  end
end

% Place of the maximum of a parabola through the largest sample and its
% neighbours.
function at = peak (t, y)
  [~, i] = max (y(2:end-1));
  i = i + 1;
  at = t(i) + (t(2) - t(1)) / 2 * (y(i-1) - y(i+1)) / (y(i-1) - 2 * y(i) + y(i+1));
end

function drawWaves (model, pictures, traces)
  % From blue over white to red.
  share = linspace (-1, 1, 255)';
  colormap (interp1 ([-1 -0.5 0 0.5 1], [0.03 0.15 0.42; 0.25 0.55 0.82; 1 1 1; 0.92 0.5 0.3; 0.5 0.05 0.1], share));
  km = model.h / 1000 * (0:size (pictures{1}, 1) - 1);
  largest = 0.25 * max (abs (traces(:)));
  for k = 1:2
    ax = axes ('Position', [0.05 + 0.27 * (k - 1), 0.2, 0.225, 0.62]);
    imagesc (km, km, pictures{k}, largest * [-1 1]);
    hold on;
    plot (km([1 end]), km([1 1] * model.interface), 'k--');
    plot (km(model.columns), km(model.row) * ones (size (model.columns)), 'kv', 'MarkerFaceColor', 'k');
    plot (km(model.place(2)), km(model.place(1)), 'kp', 'MarkerFaceColor', 'y', 'MarkerSize', 11);
    text (0.06, km(model.interface) - 0.12, sprintf ('%d m/s', model.c(1)), 'FontSize', 11);
    text (0.06, km(model.interface) + 0.12, sprintf ('%d m/s', model.c(2)), 'FontSize', 11);
    axis (ax, 'image');
    set (ax, 'YDir', 'reverse', 'Box', 'on', 'FontSize', 11, 'TickLength', [0 0]);
    xlabel (ax, 'distance (km)');
    ylabel (ax, 'depth (km)');
    title (ax, sprintf ('p after %.1f s', model.dt * model.steps * k / 2), 'FontSize', 14, 'FontWeight', 'bold');
  end
  demoColorbar (ax, [0.555 0.2 0.012 0.62], 'pressure (arbitrary unit), clipped');

  ax = axes ('Position', [0.7 0.12 0.27 0.76]);
  t = model.dt * (1:model.steps)';
  scaled = 0.14 * traces / max (abs (traces(:)));
  plot (ax, bsxfun (@plus, scaled, km(model.columns)), t, 'LineWidth', 1.2);
  set (ax, 'YDir', 'reverse', 'Box', 'on', 'FontSize', 11);
  xlim (ax, [0.9 3.4]);
  ylim (ax, [0 t(end)]);
  xlabel (ax, 'place of the receiver (km)');
  ylabel (ax, 'time (s)');
  names = arrayfun (@(d) sprintf ('%.0f m away', d), model.distances, 'UniformOutput', false);
  legend (ax, names, 'Location', 'northeast');
  title (ax, 'pressure at the receivers', 'FontSize', 14, 'FontWeight', 'bold');
end
