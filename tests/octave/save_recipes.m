## -*- texinfo -*-
## @deftypefn {} {@var{calls} =} save_recipes (@var{page}, @var{level}, @var{place})
## Saves the functions of a page as a reader does: each block of code that is one in a file of its name in @var{place}.
## @var{calls} has the other blocks, each behind the heading above it; @var{level} begins a heading.
## @end deftypefn

function calls = save_recipes (page, level, place)
  blocks = cell (0, 2);
  heading = code = "";
  within = false;
  for line = strsplit (fileread (page), "\n", "CollapseDelimiters", false)
    line = line{1};
    if (within && strcmp (line, "```"))
      within = false;
      blocks(end+1,:) = {heading, code};
    elseif (within)
      code = [code, line, "\n"];
    elseif (strcmp (line, "```matlab"))
      within = true;
      code = "";
    elseif (strncmp (line, level, numel (level)))
      heading = line(numel (level)+1:end);
    endif
  endfor
  is_step = strncmp (blocks(:,2), "function ", 9);
  for code = blocks(is_step,2)'
    fid = fopen (fullfile (place, [regexp(code{1}, '(\w+) \(', "tokens", "once"){1}, ".m"]), "w");
    fputs (fid, code{1});
    fclose (fid);
  endfor
  calls = blocks(! is_step,:);
endfunction
