## -*- texinfo -*-
## @deftypefn {} {[@var{x}, @var{held}] =} fuzz_gathered (@var{x})
## Returns an array, or the values of a DeviceArray; and true if it was one.  It
## asks the library itself, since the methods may have been cleared.
## @end deftypefn

function [x, held] = fuzz_gathered (x)
  held = isa (x, "DeviceArray");
  if (held)
    x = DeviceArray_CUDA ("gather", x);
  endif
endfunction
