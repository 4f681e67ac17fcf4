## -*- texinfo -*-
## @deftypefn {} {} many_calls (@var{count})
## Calls StencilConstantMemory_CUDA three times @var{count} times: a matrix, an
## error of each early kind in turn, and a short row or, one time in ten, a row
## of 100,000.
## @end deftypefn

function many_calls (count)
  bad = {{}, {single(1), 1}, {1, 1:4}, {1, ones(2)}, {1, 1, "Colour", 1}, {1, 1, "Device", 0}};
  big = noise (1, 1, 1e5);
  middle = noise (2, 30, 40);
  for i = 1:count
    StencilConstantMemory_CUDA (middle, [1 2 1]);
    try
      StencilConstantMemory_CUDA (bad{1 + mod (i, numel (bad))}{:});
    catch
    end_try_catch
    if (mod (i, 10) == 0)
      StencilConstantMemory_CUDA (big, [1 2 1]);
    else
      StencilConstantMemory_CUDA (1:20, ones (1, 11));
    endif
  endfor
endfunction
