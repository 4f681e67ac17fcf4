function demoColorbar (ax, place, name)
%demoColorbar  The colour scale of an image, with a name, at a place of its own.
%
%   demoColorbar (AX, PLACE, NAME)
%
%   AX is the image's axes, which keep their place. PLACE is the scale's
%   position in the figure, NAME says what the colours show, and its unit.

  inside = get (ax, 'Position');
  bar = colorbar (ax);
  % A colorbar moves its axes. Octave 7 knows no place among its arguments.
  set (ax, 'Position', inside);
  set (bar, 'Position', place, 'FontSize', 11);
  ylabel (bar, name, 'FontSize', 11);
end
