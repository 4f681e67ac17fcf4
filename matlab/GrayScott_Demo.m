function result = GrayScott_Demo (varargin)
%GrayScott_Demo  Two substances that react and spread.
%
%   GrayScott_Demo
%   GrayScott_Demo (FOLDER)
%   GrayScott_Demo (FOLDER, BACKEND)
%   RESULT = GrayScott_Demo (...)
%
%   Solves the equations of Gray and Scott on a square that goes round in both
%   directions:
%       u_t = Du laplace (u) - u v^2 + F (1 - u)
%       v_t = Dv laplace (v) + u v^2 - (F + k) v
%   u is fed, v feeds on u and dies; from a few squares of v grows a labyrinth.
%   The fields are DeviceArrays: a step is ConvolutionConstantMemory_CUDA with
%   the option 'Boundary', 'circular' for each Laplacian, and the arithmetic as
%   it stands above. Only what is drawn comes back, with GATHER.
%
%   The same lines also run on ordinary arrays, with CONV2 for the Laplacian. On
%   a small square the two are compared after 20 steps. They are not equal: the
%   library adds the nine products with fma, CONV2 rounds each. In a step the
%   two round numbers up to 1 in size no more than 30 times together, and what
%   they differed by before grows in it by no more than the largest row of the
%   step's derivatives, 1 + 2 u v + v^2. The sum of that is the tolerance.
%
%   One figure: v at six moments.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as grayscott_demo.png. With FOLDER it is
%   always written, into FOLDER (made when it is missing), and no window opens.
%   FOLDER may be '' to give none. BACKEND is 'auto', 'cuda' or 'cpu', as for
%   DeviceArray.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               v           the field in the end
%               difference  largest difference from ordinary arrays after 20
%                           steps
%               tolerance   what it may be
%               steps       how many steps were done
%               seconds     how long they took
%               backend     'cuda' or 'cpu': what it ran on
%               files       cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also DeviceArray, ConvolutionConstantMemory_CUDA, WaveEquation_Demo,
%   GameOfLife_Demo, compile_mex.

  narginchk (0, 2);
  stage = demoStage ('GrayScott_Demo', varargin{:});

  n = 128;
  moments = [0 200 600 1200 2000 3500];
  [u, v] = seeds (n);
  u = DeviceArray (u, stage.options{:});
  v = DeviceArray (v, stage.options{:});
  pictures = {gather(v)};
  shown = 0;
  watch = tic ();
  for m = 2:numel (moments)
    for step = moments(m-1)+1:moments(m)
      [u, v] = react (u, v, @laplaceOnDevice);
      shown = demoProgress (step, moments(end), watch, shown);
    end
    pictures{m} = gather (v);
  end
  seconds = toc (watch);

  % ---- The same lines with ordinary arrays ------------------------------------
  [u, v] = seeds (48);
  tolerance = 0;
  for step = 1:20
    growth = 1 + max (max (2 * u .* v + v .^ 2));
    tolerance = growth * tolerance + 30 * eps / 2;
    [u, v] = react (u, v, @laplaceOnHost);
  end
  used = onDevice (stage.options);
  difference = max (max (abs (used - [u, v])));

  fprintf ('\nGray and Scott, %d x %d: %d steps in %.2f s, %.0f a second\n', ...
           n, n, moments(end), seconds, moments(end) / seconds);
  fprintf ('  against conv2     off by at most %.1e after 20 steps, %.1e is allowed\n', difference, tolerance);
  fprintf ('  other backend     %s\n', demoOtherBackend (stage, used, @onDevice));
  files = stage.draw ('grayscott_demo.png', [1200 840], @() drawFields (pictures, moments));

  if nargout > 0
    result = struct ('v', pictures{end}, 'difference', difference, 'tolerance', tolerance, ...
                     'steps', moments(end), 'seconds', seconds, 'backend', stage.device.Backend, 'files', {files});
  end
end

% One step of length 1, of DeviceArrays or of ordinary arrays.
function [u, v] = react (u, v, laplace)
  Du = 0.16;
  Dv = 0.08;
  F = 0.037;
  k = 0.06;
  uvv = u .* v .* v;
  lu = laplace (u);
  lv = laplace (v);
  u = u + (Du * lu - uvv + F * (1 - u));
  v = v + (Dv * lv + uvv - (F + k) * v);
end

function L = laplaceOnDevice (u)
  L = ConvolutionConstantMemory_CUDA (u, [1 4 1; 4 -20 4; 1 4 1] / 6, 'Boundary', 'circular');
end

function L = laplaceOnHost (u)
  L = conv2 (u([end, 1:end, 1], [end, 1:end, 1]), [1 4 1; 4 -20 4; 1 4 1] / 6, 'valid');
end

function uv = onDevice (options)
  [u, v] = seeds (48);
  u = DeviceArray (u, options{:});
  v = DeviceArray (v, options{:});
  for step = 1:20
    [u, v] = react (u, v, @laplaceOnDevice);
  end
  uv = [gather(u), gather(v)];
end

% Nothing but u, and in some squares half of it and a quarter of v.
function [u, v] = seeds (n)
  u = ones (n);
  v = zeros (n);
  for corner = round ([0.16 0.24; 0.46 0.52; 0.70 0.20; 0.28 0.76; 0.78 0.72]' * n)
    rows = corner(1):corner(1) + 6;
    cols = corner(2):corner(2) + 6;
    u(rows, cols) = 0.5;
    v(rows, cols) = 0.25;
  end
end

function drawFields (pictures, moments)
  % From white over blue to nearly black.
  share = linspace (0, 1, 256)';
  colormap (interp1 ([0 0.35 0.7 1], [1 1 1; 0.55 0.78 0.92; 0.05 0.32 0.62; 0.02 0.08 0.2], share));
  for k = 1:numel (pictures)
    row = floor ((k - 1) / 3);
    ax = axes ('Position', [0.055 + mod(k - 1, 3) * 0.297, 0.57 - 0.49 * row, 0.235, 0.36]);
    imagesc (pictures{k}, [0 0.35]);
    axis (ax, 'image');
    set (ax, 'XTick', 32:32:128, 'YTick', 32:32:128, 'Box', 'on', 'FontSize', 11, 'TickLength', [0 0]);
    xlabel (ax, 'column (samples)');
    ylabel (ax, 'row (samples)');
    title (ax, sprintf ('v after %d steps', moments(k)), 'FontSize', 14, 'FontWeight', 'bold');
  end
  demoColorbar (ax, [0.915 0.08 0.015 0.85], 'concentration v (dimensionless)');
end
