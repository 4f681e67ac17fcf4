## -*- texinfo -*-
## @deftypefn {} {@var{growth} =} grows (@var{work}, @var{measure})
## Calls the function @var{work} twice to warm up and then six times more, and
## returns by how much @code{measure ()} is higher after the last three of these
## than after the first three.
##
## The lowest figure of each three is taken: a heap swings by what it has not yet
## given back, and a leak lifts the lowest points as well.
## @end deftypefn

function growth = grows (work, measure)
  work ();
  work ();
  after = zeros (1, 6);
  for i = 1:6
    work ();
    after(i) = measure ();
  endfor
  growth = min (after(4:6)) - min (after(1:3));
endfunction
