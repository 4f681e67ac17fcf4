## -*- texinfo -*-
## @deftypefn {} {[@var{x}, @var{held}] =} fuzz_gathered (@var{x})
## An array, or the values of a DeviceArray; and whether it was one.  It asks the
## library itself, since what is cleared may have been the methods.
## @end deftypefn

function [x, held] = fuzz_gathered (x)
  held = isa (x, "DeviceArray");
  if (held)
    x = DeviceArray_CUDA ("gather", x);
  endif
endfunction
