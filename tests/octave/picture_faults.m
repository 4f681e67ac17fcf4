## -*- texinfo -*-
## @deftypefn {} {@var{faults} =} picture_faults (@var{fig})
## Lists omissions of the figure's axes: a name, a unit in parentheses, or an entry in a legend for each of several
## curves. A cell array of texts.
## @end deftypefn

function faults = picture_faults (fig)
  faults = {};
  curves = 0;
  is_named = @(handle) ! isempty (regexp (get (handle, "string"), '\w \(\S.*\)', "once"));
  for ax = findall (fig, "type", "axes", "visible", "on")'
    if (strcmp (get (ax, "tag"), "legend"))
      continue
    endif
    name = get (get (ax, "title"), "string");
    for side = {"xlabel", "ylabel"}
      ## A colour scale has one side.
      if (! is_named (get (ax, side{1})) && ! strcmp ([get(ax, "tag") side{1}], "colorbarxlabel"))
        faults{end+1} = sprintf ("'%s' has the %s '%s'", name, side{1}, get (get (ax, side{1}), "string"));
      endif
    endfor
    kinds = get (findobj (ax, "-depth", 1), "type");
    ## Labels at the curves do, too.
    if (sum (strcmp (kinds, "line")) > 1 && ! any (strcmp (kinds, "text")))
      curves += sum (strcmp (kinds, "line"));
    endif
  endfor
  entries = sum (arrayfun (@(legend) numel (get (legend, "string")), findall (fig, "tag", "legend")));
  if (entries != curves)
    faults{end+1} = sprintf ("%d curves, %d entries in legends", curves, entries);
  endif
endfunction
