## -*- texinfo -*-
## @deftypefn {} {} many_calls (@var{count})
## Calls each of the functions that compute three times @var{count} times: a
## matrix, an error of each early kind in turn, and a short row or, one time in
## ten, a row of 100,000.
## @end deftypefn

function many_calls (count)
  options = {{"Colour", 1}, {"Device", 0}, {"Backend"}};
  ## Each function, its arguments besides the samples, and unsupported ones.
  calls = {
    @StencilConstantMemory_CUDA,     {[1 2 1]},         [{{1:4}, {ones(2)}, {single(1)}, {}}, options]
    @DerivativeConstantMemory_CUDA,  {0.5},             [{{0}, {true}, {1, 2}}, options]
    @ConvolutionConstantMemory_CUDA, {single(ones(3))}, [{{ones(2)}, {ones(3, 3, 3, 3)}, {}}, options]
    };
  big = noise (1, 1, {1e5, 2e3}{1 + on_stand_in ()});
  middle = noise (2, 30, 40);
  for i = 1:count
    for call = calls.'
      [f, more, bad] = call{:};
      f (middle, more{:});
      try
        f (1, bad{1 + mod (i, numel (bad))}{:});
      catch
      end_try_catch
      if (mod (i, 10) == 0)
        f (big, more{:});
      else
        f (1:20, more{:});
      endif
    endfor
  endfor
endfunction
