## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} takes (@var{grid}, @var{feature}, @dots{})
## True if a check of the grid with this name runs: ask before anything is computed.  A check is taken if no earlier
## check of the grid had one of its features (texts, functions, numbers, cells of such) at that place, and otherwise one
## in ten is, by a hash of all of them.  A grid @code{@{@var{name}, @dots{}@}} has more entries that identify checks,
## and are no features.  @env{STENCIL_TESTS}@code{=rest} takes another one in ten, @qcode{"all"} all.
## @end deftypefn

function yes = takes (grid, varargin)
  persistent tests = getenv ("STENCIL_TESTS");
  persistent seen = {};
  yes = strcmp (tests, "all");
  if (yes)
    return;
  endif
  what = disp (grid);
  if (iscell (grid))
    grid = grid{1};
  endif
  for i = 1:numel (varargin)
    word = varargin{i};
    if (! ischar (word))
      word = [class(word), disp(word)];
    endif
    what = [what, "\n", word];
    feature = [grid, char(i), word];
    ## All of them are noted, also behind a new one.
    if (! any (strcmp (feature, seen)))
      seen{end+1} = feature;
      yes = true;
    endif
  endfor
  yes = yes || mod (sscanf (hash ("md5", what)(1:6), "%x"), 10) == strcmp (tests, "rest");
endfunction
