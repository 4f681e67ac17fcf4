## -*- texinfo -*-
## @deftypefn {} {@var{kib} =} grows (@var{work}, @var{measure})
## Calls the function @var{work} once to warm up and then up to three times
## more, and returns the smallest growth of @code{measure ()} over one of these.
## A leak grows in each of them; a heap that settles does not.
## @end deftypefn

function least = grows (work, measure, enough = 128)
  work ();
  least = Inf;
  for round = 1:3
    before = measure ();
    work ();
    least = min (least, measure () - before);
    if (least <= enough)
      break;
    endif
  endfor
endfunction
