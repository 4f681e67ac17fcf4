function stage = demoStage (demo, varargin)
%demoStage  What all demos need: the function built, and a place for pictures.
%
%   STAGE = demoStage (DEMO)          windows where there is a display, else
%                                     pictures in the current folder
%   STAGE = demoStage (DEMO, FOLDER)  pictures, in FOLDER, made where it is
%                                     missing; no window. '' is as if not given
%   STAGE = demoStage (DEMO, FOLDER, BACKEND)  for demos of DeviceArray: where
%                                     their arrays are to be
%
%   DEMO is the demo's name, such as 'DerivativeConstantMemory_Demo'. The
%   function that it shows (the stencil, where there is none of its name) is
%   built where it is not, and what it runs on is printed.
%
%   STAGE is a struct with the fields
%     device   what ConstantMemoryDevice_CUDA says
%     options  for DeviceArray: {} or {'Backend', BACKEND}
%     draw     FILES = STAGE.draw (NAME, SIZE, DRAWING) opens a figure of SIZE
%              pixels and calls DRAWING; FILES is {} or the picture written,
%              which is called NAME
%     quiet    holds back the warning that there is no GPU, which was told by
%              then; until STAGE goes

  prefix = strrep (demo, '_Demo', '');
  here = fileparts (fileparts (mfilename ('fullpath')));
  if exist (fullfile (here, [prefix '_CUDA.m']), 'file') == 0
    prefix = 'StencilConstantMemory';
  end
  if exist (fullfile (here, [prefix '_CUDA.' mexext]), 'file') == 0
    fprintf ('The MEX file is not built yet: running compile_mex.\n');
    addpath (here);
    compile_mex ();
  end

  if nargin > 1 && ~isempty (varargin{1})
    show.folder = char (varargin{1});
    show.window = false;
  else
    show.folder = pwd ();
    show.window = demoFigure ();
  end
  if ~show.window && exist (show.folder, 'dir') == 0
    [made, why] = mkdir (show.folder);
    if ~made
      error ([demo ':folder'], 'The folder "%s" cannot be made: %s', show.folder, why);
    end
  end

  stage.draw = @(name, extent, drawing) demoFigure (demo, show, name, extent, drawing);
  before = [warning('off', [prefix ':noDevice']), warning('off', 'DeviceArray:noDevice')];
  stage.quiet = onCleanup (@() warning (before));
  stage.device = ConstantMemoryDevice_CUDA ();
  stage.options = {};
  if nargin > 2
    stage.options = {'Backend', varargin{2}};
    stage.device = whereIs (DeviceArray (0, stage.options{:}), stage.device);
  end
  sayWhatRuns (stage.device);
end

% The requested backend may differ from that of a call without options.
function info = whereIs (array, info)
  words = {'cpu', 'cuda'};
  asked = words{1 + (device (array) > 0)};
  if ~strcmp (info.Backend, asked)
    info.Backend = asked;
    info.BackendReason = 'as asked for';
  end
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
