## -*- texinfo -*-
## @deftypefn {} {@var{y} =} extended (@var{x}, @var{r}, @var{boundary})
## @var{x} with @code{r(d)} samples more at either end of dimension d: a number, or
## what @qcode{"replicate"}, @qcode{"symmetric"} and @qcode{"circular"} mean to
## @code{padarray}, further out than @var{x} is long as well.  The class stays.
## @end deftypefn

function y = extended (x, r, boundary)
  dims = size (x);
  dims(end+1:numel (r)) = 1;
  r(end+1:numel (dims)) = 0;
  places = cell (1, numel (dims));
  for d = 1:numel (dims)
    n = dims(d);
    at = -r(d):n-1+r(d);              # counted from 0
    switch (lower (boundary))
      case "replicate"
        at = min (max (at, 0), n - 1);
      case "symmetric"
        at = mod (at, 2 * n);
        at(at >= n) = 2 * n - 1 - at(at >= n);
      case "circular"
        at = mod (at, n);
      otherwise
        at = (0:n-1) + r(d);          # where the samples go
    endswitch
    places{d} = at + 1;
  endfor
  if (ischar (boundary))
    y = x(places{:});
  else
    y = repmat (cast (boundary, class (x)), dims + 2 * r);
    y(places{:}) = x;
  endif
endfunction
