## -*- texinfo -*-
## @deftypefn {} {} memory_walk (@var{steps})
## Calls every function on the processor with room for @var{steps} MiB more than
## this process has, one after the other, and prints how many calls ended how:
## @code{right}, with the bits that they have without a limit; @code{ours}, with
## the error outOfMemory; @code{host}, with the host's own. Anything else is an
## error.  Before every other step all functions are cleared: their threads then
## start anew within the limit.
## @end deftypefn

function memory_walk (steps)
  x = reshape (mod (1:1e6, 1009) / 7, 1000, 1000);
  v = reshape (x, 100, 100, 100);
  s = single (x);
  f = [1 2 1; 2 4 2; 1 2 1] / 16;
  f3 = ones (3, 3, 3) / 27;
  c = {"Backend", "cpu"};
  calls = {
    @() StencilConstantMemory_CUDA (x(:), [1 2 1] / 4, c{:})
    @() StencilConstantMemory_CUDA (x, ones (1, 21) / 21, c{:}, "Dim", 2, "Boundary", "circular")
    @() StencilConstantMemory_CUDA (x, [1 2 1] / 4, c{:}, "Iterations", 20, "Boundary", "replicate")
    @() StencilConstantMemory_CUDA (v, ones (1, 5) / 5, c{:}, "Dim", 3, "Iterations", 40)
    @() StencilConstantMemory_CUDA (x(:,1), [1 2 1] / 4, c{:}, "Iterations", 12000)
    @() DerivativeConstantMemory_CUDA (x, 0.5, c{:}, "Boundary", "symmetric")
    @() DerivativeConstantMemory_CUDA (s, 0.5, c{:}, "Dim", 2)
    @() ConvolutionConstantMemory_CUDA (x, f, c{:})
    @() ConvolutionConstantMemory_CUDA (s, single (f), c{:}, "Boundary", "circular")
    @() ConvolutionConstantMemory_CUDA (x, single (f), c{:})
    @() ConvolutionConstantMemory_CUDA (s, f, c{:}, "Iterations", 2, "Boundary", 1)
    @() ConvolutionConstantMemory_CUDA (v, f3, c{:}, "Iterations", 3, "Boundary", "replicate")
    @() ConvolutionConstantMemory_CUDA (v, single (f3), c{:}, "Iterations", 2)
    @() ConstantMemoryDevice_CUDA ()
    };
  want = cellfun (@(call) sums (call ()), calls, "UniformOutput", false);
  [right, ours, host] = deal (0);
  for i = 1:numel (steps)
    address_limit (steps(i));
    if (mod (i, 2))
      clear -f "*_CUDA"
    endif
    for j = 1:numel (calls)
      try
        got = sums (calls{j} ());
        if (! isequal (got, want{j}))
          address_limit (Inf);
          error ("memory_walk:wrong", "call %d with %g MiB: %.17g and %.17g, not %.17g and %.17g", ...
                 j, steps(i), got, want{j});
        endif
        right++;
      catch err
        ## The inspection of the error needs memory, too.
        address_limit (Inf);
        if (strcmp (err.identifier, "memory_walk:wrong"))
          rethrow (err);
        elseif (! isempty (strfind (err.identifier, ":outOfMemory")) && ! strncmp (err.identifier, "Octave", 6))
          ours++;
        elseif (tells (err.message, {"out of memory", "failed to allocate", "failed to load", ...
                                     "unexpected exception while parsing", "out of dynamic memory"}))
          host++;
        else
          error ("call %d with %g MiB: <%s> %s", j, steps(i), err.identifier, err.message);
        endif
        address_limit (steps(i));
      end_try_catch
    endfor
  endfor
  address_limit (Inf);
  ## As if nothing had been.
  for j = 1:numel (calls)
    assert (sums (calls{j} ()), want{j});
  endfor
  printf ("right %d ours %d host %d\n", right, ours, host);
endfunction

## Returns sums that distinguish two results, computed without allocating
## memory.
function s = sums (y)
  if (isstruct (y))
    s = [numfields(y), y.Threads];
  else
    y = y(:);
    s = double ([sum(y), sumsq(y)]);
  endif
endfunction

## True if a text contains one of some words. (There may be no memory for regexp in Octave 11.)
function yes = tells (text, words)
  yes = false;
  for word = words
    yes = yes || ! isempty (strfind (text, word{1}));
  endfor
endfunction
