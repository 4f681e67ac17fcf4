## -*- texinfo -*-
## @deftypefn {} {@var{count} =} as_long_as (@var{seconds}, @var{work})
## Returns a number of iterations for which @code{work (count)} takes about
## @var{seconds} here.
## @end deftypefn

function count = as_long_as (seconds, work)
  count = 4;
  do
    count *= 4;
    ## The first may load a kernel, and others may have the processor in one of them.
    t = Inf;
    for i = 1:3
      tic ();
      work (count);
      t = min (t, toc ());
    endfor
  until (t > 0.1)
  count = ceil (count * seconds / t);
endfunction
