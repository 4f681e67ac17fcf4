## -*- texinfo -*-
## @deftypefn {} {@var{lines} =} on_screen (@var{text})
## Returns a terminal's view of @var{text}, a cell array of lines: a backspace
## moves back, and later characters replace those there.
## @end deftypefn

function lines = on_screen (text)
  lines = strsplit (text, "\n");
  for i = 1:numel (lines)
    line = "";
    at = 1;
    for c = lines{i}
      if (c == "\b")
        at = max (at - 1, 1);
      else
        line(at++) = c;
      endif
    endfor
    lines{i} = deblank (line);
  endfor
endfunction
