## -*- texinfo -*-
## @deftypefn {} {@var{names} =} index_names (@var{pattern})
## The functions that the INDEX of the installed package lists, those whose names match @var{pattern}.
## @end deftypefn

function names = index_names (pattern = ".")
  file = glob (fullfile (installed (), "stencil-mex-*", "packinfo", "INDEX")){1};
  lines = strsplit (fileread (file), "\n");
  names = strtrim (lines(strncmp (lines, " ", 1)));
  names = names(! cellfun (@isempty, regexp (names, pattern, "once")));
endfunction
