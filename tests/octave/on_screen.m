## -*- texinfo -*-
## @deftypefn {} {@var{lines} =} on_screen (@var{text})
## What a terminal shows of @var{text}, a cell array of lines: a backspace moves
## back, and what is printed then takes the place of what stood there.
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
