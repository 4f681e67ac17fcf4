## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} has_gpu ()
## True if the GPU tests are to run.  If the CUDA engine was asked for by name
## they always are: a GPU that cannot be used is then a failure, not a skip.
## @end deftypefn

function yes = has_gpu ()
  persistent known = [];
  if (isempty (known))
    known = strcmp (getenv ("STENCIL_BACKEND"), "cuda");
    try
      StencilConstantMemory_CUDA (1, 1, "Backend", "cuda");
      known = true;
    catch
    end_try_catch
  endif
  yes = known;
endfunction
