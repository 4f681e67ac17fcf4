function files = demoFigure (demo, show, name, extent, drawing)
%demoFigure  Draws one figure of a demo, in a window or to a file.
%
%   WINDOW = demoFigure ()  whether there is a display to open windows on
%   FILES = demoFigure (DEMO, SHOW, NAME, EXTENT, DRAWING)
%
%   Opens a figure of EXTENT pixels and calls DRAWING. With SHOW.window it stays
%   open, and FILES is {}; else it is written to the file NAME in the folder
%   SHOW.folder, which FILES then names. A picture that fails costs the warning
%   DEMO:noPicture: what was computed is printed, the point was made.

  octave = exist ('OCTAVE_VERSION', 'builtin') ~= 0;
  if nargin == 0
    if octave
      files = have_window_system ();
    else
      files = usejava ('desktop');
    end
    return
  end
  files = {};
  look = {'Color', 'w', 'Position', [100 100 extent]};
  try
    if show.window
      figure (look{:});
      drawing ();
      drawnow ();
      return
    end
    if octave
      quiet = quietGnuplot ();
    end
    fig = figure ('Visible', 'off', look{:});
    closing = onCleanup (@() close (fig));
    drawing ();
    file = fullfile (show.folder, name);
    if octave
      % gnuplot writes this one by itself; -dpng would ask for Ghostscript too.
      print (fig, file, '-dpngcairo');
    else
      set (fig, 'PaperUnits', 'inches', 'PaperPosition', [0 0 extent / 125]);
      print (fig, file, '-dpng', '-r150');
    end
  catch failure
    hint = '';
    if octave && ~show.window
      hint = ' (on Debian and Ubuntu: apt-get install gnuplot-nox fonts-freefont-otf)';
    end
    warning ([demo ':noPicture'], ...
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
