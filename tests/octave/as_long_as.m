## -*- texinfo -*-
## @deftypefn {} {@var{count} =} as_long_as (@var{seconds}, @var{work})
## For how many iterations @code{work (count)} takes about @var{seconds} here.
## @end deftypefn

function count = as_long_as (seconds, work)
  count = 4;
  work (count);
  do
    count *= 4;
    tic ();
    work (count);
    t = toc ();
  until (t > 0.1)
  count = ceil (count * seconds / t);
endfunction
