## -*- texinfo -*-
## @deftypefn {} {@var{y} =} extended (@var{x}, @var{r}, @var{boundary}, @var{behind})
## @var{x} with @code{r(d)} samples more at the lower end of dimension d and @code{behind(d)} (r(d) if not
## given) at the upper one, one dimension after the other: a number, or what @qcode{"replicate"}, @qcode{"symmetric"} and
## @qcode{"circular"} mean to @code{padarray} and @qcode{"mirror"} to SciPy, further
## out than @var{x} is long as well.  A cell has an entry for each dimension, each
## one of these or a pair of them, for the lower end and for the upper one.  The
## class stays.
## @end deftypefn

function y = extended (x, r, boundary, behind = r)
  dims = size (x);
  dims(end+1:numel (r)) = 1;
  r(end+1:numel (dims)) = 0;
  behind(end+1:numel (dims)) = 0;
  y = x;
  for d = find (r > 0 | behind > 0)
    both = boundary;
    if (iscell (boundary))
      both = 0;                       # along a dimension that x has not
      if (d <= numel (boundary))
        both = boundary{d};
      endif
    endif
    if (! iscell (both))
      both = {both, both};
    endif
    n = dims(d);
    low = beyond (y, d, -r(d):-1, n, both{1});
    high = beyond (y, d, n:n-1+behind(d), n, both{2});
    y = cat (d, low, y, high);
  endfor
endfunction

## Returns the n samples' extension at places along a dimension, counted from 0.
function y = beyond (x, d, at, n, boundary)
  index = repmat ({":"}, 1, max (ndims (x), d));
  if (! ischar (boundary))
    dims = size (x);
    dims(end+1:d) = 1;
    dims(d) = numel (at);
    y = repmat (cast (boundary, class (x)), dims);
    return;
  endif
  switch (lower (boundary))
    case "replicate"
      at = min (max (at, 0), n - 1);
    case "symmetric"
      at = mod (at, 2 * n);
      at(at >= n) = 2 * n - 1 - at(at >= n);
    case "mirror"
      period = max (2 * n - 2, 1);
      at = mod (at, period);
      at(at >= n) = period - at(at >= n);
    case "circular"
      at = mod (at, n);
  endswitch
  index{d} = at + 1;
  y = x(index{:});
endfunction
