## -*- texinfo -*-
## @deftypefn {} {} many_queries (@var{count})
## Asks ConstantMemoryDevice_CUDA @var{count} times, and wrongly as often.
## @end deftypefn

function many_queries (count)
  for i = 1:count
    device = ConstantMemoryDevice_CUDA ();
    try
      ConstantMemoryDevice_CUDA (i);
    catch
    end_try_catch
  endfor
endfunction
