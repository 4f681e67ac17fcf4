function result = Diffusion_Demo (varargin)
%Diffusion_Demo  Heat between walls of all kinds.
%
%   Diffusion_Demo
%   Diffusion_Demo (FOLDER)
%   RESULT = Diffusion_Demo (...)
%
%   Three equations of heat whose solutions are known, each solved by one call
%   with samples h apart and steps of a fixed part of h^2. What stands at the
%   walls is said by 'Boundary', where each side may have its own.
%
%   A rod between two temperatures with a source, u_t = u_xx + s: 'Boundary',
%   {20, 60}, and the option 'Source', which is added in every sweep. The states
%   that 'Every' returns approach a parabola.
%
%   A channel, u_t + u_x = D laplace (u): it goes round along the flow and has a
%   cold and a warm wall across, 'Boundary', {{0, 1}, 'circular'}. Pulses drift
%   and fade until nothing is left but the gradient from wall to wall.
%
%   A box that conducts better along x than along y, and better along y than
%   along z. A sweep is three filters, {kx, ky, kz} with 'Dim', [1 2 3], each
%   with its own boundary: the two x sides are at 0, the two y sides are
%   insulated, and one of the z sides is at 0. Each direction may take steps
%   of almost h^2 / 2, which all three at once may not.
%
%   Where the walls stand: a fixed temperature is the sample before the first or
%   behind the last, so the samples are the nodes between such walls. With
%   'mirror' the first or the last sample is the insulated wall itself.
%
%   The error is of the second order in h; the demo measures that with three h.
%
%   One figure: the channel at three moments, the rod on its way to the
%   parabola, and sections of the box at z = 1/2. Position and time are
%   dimensionless here.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as diffusion_demo.png. With FOLDER it is
%   always written, into FOLDER (made when it is missing), and no window opens.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               maxError   largest errors: a row for rod, channel and box, a
%                          column for each h, which halves
%               order      of each, from the last two columns
%               steady     how far from the parabola the rod is in the end
%               sweeps     how many sweeps were done
%               seconds    how long they took
%               backend    'cuda' or 'cpu': what it ran on
%               files      cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also StencilConstantMemory_CUDA, ConvolutionConstantMemory_CUDA,
%   HeatEquation_Demo, Advection_Demo, StandingWaves_Demo, compile_mex.

  narginchk (0, 1);
  stage = demoStage ('Diffusion_Demo', varargin{:});
  names = {'rod', 'channel', 'box'};
  solvers = {@rod, @channel, @splitBox};
  parts = [20 40 80; 32 64 128; 16 32 64];   % how often h goes into 1

  maxError = zeros (size (parts));
  states = cell (1, 3);
  sweeps = 0;
  seconds = 0;
  for k = 1:3
    for m = 1:3
      watch = tic ();
      [states{k}, exact, steps] = solvers{k} (parts(k,m));
      seconds = seconds + toc (watch);
      sweeps = sweeps + steps;
      maxError(k,m) = max (abs (states{k}(:) - exact(:)));
    end
  end
  order = log2 (maxError(:,2) ./ maxError(:,3))';
  x = (1:79)' / 80;
  steady = max (abs (states{1}(:,end) - parabola (x)));

  fprintf ('\nHeat in a rod, a channel and a box: %d sweeps in %.0f ms\n', sweeps, 1000 * seconds);
  for k = 1:3
    fprintf ('  %-17s off by at most %.1e, %.1e, %.1e with h = 1/%d, 1/%d, 1/%d: order %.2f\n', ...
             names{k}, maxError(k,:), parts(k,:), order(k));
  end
  fprintf ('  the parabola      the rod is within %.1e of it in the end\n', steady);
  files = stage.draw ('diffusion_demo.png', [1300 780], @() drawHeat (x, states));

  if nargout > 0
    result = struct ('maxError', maxError, 'order', order, 'steady', steady, 'sweeps', sweeps, ...
                     'seconds', seconds, 'backend', stage.device.Backend, 'files', {files});
  end
end

% A rod of N parts between walls at 20 and 60 degrees, up to t = 2: states at multiples of 0.02.
function [states, exact, steps] = rod (n)
  x = (1:n-1)' / n;        % the walls are the samples outside
  t = (0:100) * 0.02;
  exact = parabola (x) - 60 * sin (pi * x) * exp (-pi ^ 2 * t) + 10 * sin (3 * pi * x) * exp (-9 * pi ^ 2 * t);
  lambda = 0.4;
  dt = lambda / n ^ 2;
  every = round (0.02 / dt);
  steps = 100 * every;
  u = exact(:,1);
  states = [u, StencilConstantMemory_CUDA(u, [lambda, 1 - 2 * lambda, lambda], 'Boundary', {20, 60}, ...
                                          'Source', heating () * dt, 'Iterations', steps, 'Every', every)];
end

% In degrees per unit of time.
function s = heating ()
  s = 400;
end

% The rod's final state.
function u = parabola (x)
  u = 20 + 40 * x + heating () / 2 * x .* (1 - x);
end

% A channel of N samples across and twice as many along, up to t = 1.5: states at 0, 0.5, 1 and 1.5.
function [states, exact, steps] = channel (n)
  y = (1:n-1)' / n;        % the walls at y = 0 and 1 are the samples outside
  x = (0:2*n-1) / n;       % x = 2 is x = 0
  D = 0.01;
  dt = 8 / n ^ 2;
  k = -20:20;
  l = 1:30;
  bump = @(place, width) 2 * sqrt (2 * pi) * width * exp (-0.5 * (pi * l * width) .^ 2) .* sin (pi * l * place);
  pulse = @(place, width) sqrt (pi / 2) * width * exp (-0.5 * (pi * k * width) .^ 2) .* exp (-1i * pi * k * place);
  heights = 0.9 * bump (0.3, 0.09)' * pulse (0.4, 0.12) - 0.9 * bump (0.7, 0.09)' * pulse (1.2, 0.12);
  t = (0:3) / 2;
  exact = zeros (n - 1, 2 * n, numel (t));
  for m = 1:numel (t)
    fading = exp (-D * pi ^ 2 * (l' .^ 2 + k .^ 2) * t(m) - 1i * pi * k * t(m));
    exact(:,:,m) = real (sin (pi * y * l) * (heights .* fading) * exp (1i * pi * k' * x)) + y;
  end
  % Half a square of the flow's own step keeps the steps in time of the second order (Lax and Wendroff).
  nu = n * dt;
  across = D * dt * n ^ 2;
  along = across + nu ^ 2 / 2;
  taps = [0, across, 0; along + nu / 2, 1 - 2 * along - 2 * across, along - nu / 2; 0, across, 0];
  every = round (0.5 / dt);
  steps = 3 * every;
  u = exact(:,:,1);
  states = cat (3, u, ConvolutionConstantMemory_CUDA (u, taps, 'Boundary', {{0, 1}, 'circular'}, ...
                                                      'Iterations', steps, 'Every', every));
end

% A box of N x N x N parts up to t = 1/40: three states, along the fourth dimension.
function [states, exact, steps] = splitBox (n)
  x = (1:n-1) / n;         % both walls are the samples outside
  y = (0:n) / n;           % both walls are samples
  z = (1:n) / n;           % the first is outside, the last is a sample
  conducts = [1 0.5 0.25];
  k = 0:24;
  weights = @(shape, k, place, width) 2 * sqrt (2 * pi) * width * exp (-0.5 * (pi * k * width) .^ 2) ...
                                      .* shape (pi * k * place) ./ (1 + (k == 0));
  along = @(shape, x, k, place, t) (weights (shape, k, place, 0.13) .* exp (-(pi * k) .^ 2 * t)) * shape (pi * k' * x);
  t = [0 1 4] / 160;
  exact = zeros (n - 1, n + 1, n, numel (t));
  for m = 1:numel (t)
    for spot = [0.35 0.7; 0.15 0.75; 0.5 0.6]
      a = along (@sin, x, k, spot(1), conducts(1) * t(m));
      b = along (@cos, y, k, spot(2), conducts(2) * t(m));
      c = along (@sin, z, k + 0.5, spot(3), conducts(3) * t(m));
      exact(:,:,:,m) = exact(:,:,:,m) + a' .* b .* reshape (c, 1, 1, []);
    end
  end
  lambda = 0.4 * conducts;
  taps = arrayfun (@(lambda) [lambda, 1 - 2 * lambda, lambda], lambda, 'UniformOutput', false);
  every = n ^ 2 / 64;      % t = 1/160
  steps = 4 * every;
  u = exact(:,:,:,1);
  states = StencilConstantMemory_CUDA (u, taps, 'Dim', [1 2 3], 'Boundary', {0, 'mirror', {0, 'mirror'}}, ...
                                       'Iterations', steps, 'Every', every);
  states = cat (4, u, states(:,:,:,[1 4]));
end

function drawHeat (x, states)
  % From black over red and yellow to white.
  share = linspace (0, 1, 255)';
  colormap (interp1 (0:0.2:1, [0.05 0.03 0.20; 0.35 0.07 0.43; 0.73 0.21 0.33; 0.95 0.45 0.15; 0.99 0.77 0.25; ...
                               1.00 1.00 0.85], share));
  words = {'0', '1/2', '1'};
  for m = 1:3
    picture ([0.06 + (m - 1) * 0.30, 0.70, 0.245, 0.245 / 2 * 1300 / 780], [0 2], states{2}(:,:,m), [0 1 2]);
    title (['Channel at t = ' words{m}], 'FontSize', 14, 'FontWeight', 'bold');
  end

  ax = axes ('Position', [0.06 0.10 0.31 0.40]);
  moments = [1 2 4 7 11 22];
  lines = plot (ax, [0; x; 1], [20 * ones(size (moments)); states{1}(:,moments); 60 * ones(size (moments))], '-');
  for k = 1:numel (lines)
    tone = (k - 1) / (numel (lines) - 1);
    set (lines(k), 'Color', (1 - tone) * [0.35 0.07 0.43] + tone * [0.97 0.60 0.15], 'LineWidth', 2.5);
  end
  set (ax, 'XLim', [0 1], 'YLim', [0 100], 'XTick', 0:0.2:1, 'YTick', 0:20:100, 'XGrid', 'on', 'YGrid', 'on', ...
       'Box', 'off', 'FontSize', 11, 'TickDir', 'out', 'TickLength', [0.005 0.005]);
  title (ax, 'Rod with a source: on to the parabola', 'FontSize', 14, 'FontWeight', 'bold');
  xlabel (ax, 'position x (dimensionless)');
  ylabel (ax, 'temperature u (degrees)');
  legend (lines, arrayfun (@(m) sprintf ('t = %.2f', 0.02 * (m - 1)), moments, 'UniformOutput', false), ...
          'Location', 'southeast');
  legend ('boxoff');

  words = {'0', '1/160', '1/40'};
  for m = 1:3
    ax = picture ([0.43 + (m - 1) * 0.1715, 0.10, 0.132, 0.40], [0 1], states{3}(:,:,end/2,m)', [0 1]);
    title (['Box at t = ' words{m}], 'FontSize', 13, 'FontWeight', 'bold');
  end
  demoColorbar (ax, [0.935 0.10 0.012 0.804], 'temperature u of channel and box (dimensionless)');
end

function ax = picture (place, width, values, ticks)
  ax = axes ('Position', place);
  imagesc (width, [0 1], values, [0 1]);
  axis (ax, 'image');
  set (ax, 'YDir', 'normal', 'XTick', ticks, 'YTick', [0 1], 'Box', 'on', 'FontSize', 11, 'TickLength', [0 0]);
  xlabel (ax, 'x (dimensionless)');
  ylabel (ax, 'y (dimensionless)');
end
