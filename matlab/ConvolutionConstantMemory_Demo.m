function result = ConvolutionConstantMemory_Demo (varargin)
%ConvolutionConstantMemory_Demo  An image, blurred, and its edges.
%
%   ConvolutionConstantMemory_Demo
%   ConvolutionConstantMemory_Demo (FOLDER)
%   RESULT = ConvolutionConstantMemory_Demo (...)
%
%   Makes an image of shapes, gradients and rings that grow ever finer, and
%   filters it in two ways. One figure, three images side by side: the image;
%   blurred by a Gaussian of 15 x 15, which the finest rings do not survive;
%   and its edges, the size of the gradient by Sobel's two filters of 3 x 3.
%   The image ends in black, as outside of it all is black: so it has no edge
%   where it ends.
%
%   Where there is a display a window opens. Where there is none the picture is
%   written to the current folder as convolution_demo.png. With FOLDER it is
%   always written, into FOLDER (made when it is missing), and no window opens.
%
%   The MEX file is built first, with compile_mex, when it is missing.
%
%   Output
%     RESULT  struct with the fields
%               image      what was filtered, 384 x 384 double, 0 to 1
%               blurred    of the same size
%               edges      of the same size
%               blurError  largest difference from conv2, of the blurred image
%               edgeError  the same, of the edges
%               backend    'cuda' or 'cpu': what it ran on
%               files      cell array of the pictures written, or {}
%
%   In Octave, pictures without a display are drawn by gnuplot (on Debian and
%   Ubuntu the packages gnuplot-nox and fonts-freefont-otf). Without it the
%   figures are still printed, after a warning.
%
%   See also ConvolutionConstantMemory_CUDA, StencilConstantMemory_Demo,
%   DerivativeConstantMemory_Demo, compile_mex.

  narginchk (0, 1);
  stage = demoStage ('ConvolutionConstantMemory_Demo', varargin{:});

  N = testImage (384);

  bell = exp (-0.5 * ((-7:7) / 3) .^ 2);
  gaussian = bell' * bell;
  gaussian = gaussian / sum (gaussian(:));   % a sum of 1 keeps the brightness
  blurred = ConvolutionConstantMemory_CUDA (N, gaussian);

  sobel = [-1 0 1; -2 0 2; -1 0 1];
  across = ConvolutionConstantMemory_CUDA (N, sobel);
  down   = ConvolutionConstantMemory_CUDA (N, sobel');
  edges  = hypot (across, down);

  % The filter is not flipped, as that of conv2 is.
  check = @(F) conv2 (N, rot90 (F, 2), 'same');
  largest = @(difference) max (abs (difference(:)));
  blurError = largest (blurred - check (gaussian));
  edgeError = largest (edges - hypot (check (sobel), check (sobel')));

  fprintf ('\nAn image of %d x %d, blurred by 15 x 15 and its edges by 3 x 3\n', size (N));
  fprintf ('  blurred           within %.1e of conv2\n', blurError);
  fprintf ('  edges             within %.1e of conv2\n', edgeError);
  files = stage.draw ('convolution_demo.png', [1500 440], @() drawImages (N, blurred, edges));

  if nargout > 0
    result = struct ('image', N, 'blurred', blurred, 'edges', edges, 'blurError', blurError, ...
                     'edgeError', edgeError, 'backend', stage.device.Backend, 'files', {files});
  end
end

function drawImages (N, blurred, edges)
  colormap (gray (256));
  showImage (1, N,       [0 1], 'The image', 'brightness (dimensionless)');
  showImage (2, blurred, [0 1], 'Blurred: Gaussian, 15 x 15', 'brightness (dimensionless)');
  % Edges from black to white are 4; showing half of that as white shows the weak ones too.
  showImage (3, edges,   [0 2], 'Edges: Sobel, 3 x 3', 'gradient (dimensionless), clipped at 2');
end

function showImage (place, pixels, range, name, colourName)
  left = 0.045 + (place - 1) * 0.333;
  ax = axes ('Position', [left, 0.15, 0.214, 0.73]);
  imagesc (pixels, range);
  axis (ax, 'image');
  set (ax, 'XTick', 100:100:300, 'YTick', 100:100:300, 'FontSize', 11, 'TickLength', [0 0]);
  xlabel (ax, 'column (pixels)');
  ylabel (ax, 'row (pixels)');
  demoColorbar (ax, [left + 0.221, 0.15, 0.01, 0.73], colourName);
  title (ax, name, 'FontSize', 14, 'FontWeight', 'bold', 'Interpreter', 'none');
end

% Shapes, gradients and rings on black, each with something for a filter to do.
function N = testImage (n)
  [x, y] = meshgrid (((1:n) - 0.5) / n);
  N = zeros (n);

  % A zone plate: rings that grow finer with the distance, fading before it ends.
  r = hypot (x - 0.28, y - 0.28) / 0.23;
  N = N + (r < 1) .* (0.5 + 0.5 * cos (40 * r .^ 2)) .* min (1, 8 * (1 - r));

  % A lit ball.
  u = (x - 0.74) / 0.2;
  v = (y - 0.27) / 0.2;
  height = sqrt (max (0, 1 - u .^ 2 - v .^ 2));
  ball = u .^ 2 + v .^ 2 < 1;
  N(ball) = 0.15 + 0.85 * max (0, (height(ball) - u(ball) - v(ball)) / sqrt (3));

  % A square on its corner with a gradient, and a hole in it.
  s = abs (x - 0.27) + abs (y - 0.74);
  square = s < 0.22;
  N(square) = 0.2 + 0.8 * (y(square) - 0.52) / 0.44;
  N(s < 0.08) = 0;

  % Bars that grow narrower, from wider than the blur to narrower.
  bars = x > 0.54 & x < 0.94 & y > 0.54 & y < 0.72;
  N(bars & mod (2 * exp (2 * (x - 0.54) / 0.4), 1) < 0.5) = 1;

  % A gradient alone, next to steps of the same range.
  ramp = (x - 0.54) / 0.4;
  smooth = ramp > 0 & ramp < 1 & y > 0.77 & y < 0.85;
  N(smooth) = ramp(smooth);
  steps = ramp > 0 & ramp < 1 & y > 0.86 & y < 0.94;
  N(steps) = ceil (6 * ramp(steps)) / 6;
end
