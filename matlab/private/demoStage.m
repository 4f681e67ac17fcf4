function stage = demoStage (demo, varargin)
%demoStage  What all demos need: the function built, and a place for pictures.
%
%   STAGE = demoStage (DEMO)          windows where there is a display, else
%                                     pictures in the current folder
%   STAGE = demoStage (DEMO, FOLDER)  pictures, in FOLDER, made where it is
%                                     missing; no window
%
%   DEMO is the demo's name, such as 'StencilConstantMemory_Demo'. The function it
%   shows is built where it is not, and what it runs on is printed.
%
%   STAGE is a struct with the fields
%     device   what ConstantMemoryDevice_CUDA says
%     draw     FILES = STAGE.draw (NAME, SIZE, DRAWING) opens a figure of SIZE
%              pixels and calls DRAWING; FILES is {} or the picture written,
%              which is called NAME
%     quiet    holds back the warning that there is no GPU, which was told by
%              then; until STAGE goes

  prefix = strrep (demo, '_Demo', '');
  here = fileparts (fileparts (mfilename ('fullpath')));
  if exist (fullfile (here, [prefix '_CUDA.' mexext]), 'file') == 0
    fprintf ('The MEX file is not built yet: running compile_mex.\n');
    addpath (here);
    compile_mex ();
  end

  show.demo = demo;
  show.octave = exist ('OCTAVE_VERSION', 'builtin') ~= 0;
  if nargin > 1
    show.folder = char (varargin{1});
    show.window = false;
  else
    show.folder = pwd ();
    show.window = hasDisplay (show.octave);
  end
  if ~show.window && exist (show.folder, 'dir') == 0
    [made, why] = mkdir (show.folder);
    if ~made
      error ([demo ':folder'], 'The folder "%s" cannot be made: %s', show.folder, why);
    end
  end

  stage.device = ConstantMemoryDevice_CUDA ();
  sayWhatRuns (stage.device);
  stage.draw = @(name, extent, drawing) draw (show, name, extent, drawing);
  before = warning ('off', [prefix ':noDevice']);
  stage.quiet = onCleanup (@() warning (before));
end

function sayWhatRuns (device)
  if strcmp (device.Backend, 'cuda')
    fprintf ('Backend: cuda, on %s (compute capability %s)\n', ...
             device.Name, device.ComputeCapability);
  else
    fprintf ('Backend: %s, %d threads, %s (%s)\n', device.Backend, ...
             device.Threads, device.SIMD, device.BackendReason);
  end
end

function yes = hasDisplay (octave)
  if octave
    yes = have_window_system ();
  else
    yes = usejava ('desktop');
  end
end

% Draws one figure; to a file where no window can or shall be shown. A picture
% that fails costs a warning: the figures were printed, the point was made.
function files = draw (show, name, extent, drawing)
  files = {};
  look = {'Color', 'w', 'Position', [100 100 extent]};
  try
    if show.window
      figure (look{:});
      drawing ();
      drawnow ();
      return
    end
    if show.octave
      quiet = quietGnuplot ();
    end
    fig = figure ('Visible', 'off', look{:});
    closing = onCleanup (@() close (fig));
    drawing ();
    file = fullfile (show.folder, name);
    if show.octave
      % gnuplot writes this one by itself; -dpng would ask for Ghostscript too.
      print (fig, file, '-dpngcairo');
    else
      set (fig, 'PaperUnits', 'inches', 'PaperPosition', [0 0 extent / 125]);
      print (fig, file, '-dpng', '-r150');
    end
  catch failure
    hint = '';
    if show.octave && ~show.window
      hint = ' (on Debian and Ubuntu: apt-get install gnuplot-nox fonts-freefont-otf)';
    end
    warning ([show.demo ':noPicture'], ...
             'The picture could not be drawn%s: %s', hint, failure.message);
    return
  end
  files = {file};
  fprintf ('  picture           %s\n', file);
end

% Makes gnuplot draw the figures to come, without its two notices, until the
% returned object goes.
function quiet = quietGnuplot ()
  toolkit = get (0, 'defaultfigure__graphics_toolkit__');
  before  = warning ();
  quiet = onCleanup (@() putBack (toolkit, before));
  warning ('off', 'Octave:gnuplot-graphics');
  warning ('off', 'print:nogs');
  graphics_toolkit ('gnuplot');
end

function putBack (toolkit, before)
  set (0, 'defaultfigure__graphics_toolkit__', toolkit);
  warning (before);
end
