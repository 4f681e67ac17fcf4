## -*- texinfo -*-
## @deftypefn {} {@var{growth} =} grows (@var{work}, @var{measure})
## Calls the function @var{work} twelve times to warm up (with a GPU, its driver
## grows for some thousand calls before it settles) and then six times more, and
## returns by how much @code{measure ()} is higher after the last three of these
## than after the first three.
##
## Takes the lowest figure of each three: the size of a heap varies with freed
## memory that it still holds, and a leak lifts the lowest points as well. @end
## deftypefn
## @end deftypefn

function growth = grows (work, measure)
  for i = 1:12
    work ();
    measure ();       # its first call loads things too
  endfor
  after = zeros (1, 6);
  for i = 1:6
    work ();
    after(i) = measure ();
  endfor
  growth = min (after(4:6)) - min (after(1:3));
endfunction
