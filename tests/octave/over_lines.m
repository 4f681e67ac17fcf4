## -*- texinfo -*-
## @deftypefn {} {@var{y} =} over_lines (@var{x}, @var{r}, @var{chain})
## Runs @code{chain (padded, n)} over the lines of @var{x} along its first
## dimension that is not 1.  Each column of @var{padded} is a line of @var{n}
## samples with @var{r} zeros above it and below.  The result has the size and
## the class of @var{x}.
## @end deftypefn

function y = over_lines (x, r, chain)
  dims = size (x);
  y = zeros (dims, class (x));
  if (isempty (x))
    return;
  endif
  along = find (dims != 1, 1);
  if (isempty (along))
    along = 1;
  endif

  ## Dimensions before the first that is not 1 are all 1: lines are columns.
  n = dims(along);
  lines = reshape (full (x), n, []);
  edge = zeros (r, columns (lines), class (x));
  y(:) = chain ([edge; lines; edge], n);
endfunction
