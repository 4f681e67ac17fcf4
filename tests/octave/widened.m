## -*- texinfo -*-
## @deftypefn {} {@var{x} =} widened (@var{x})
## Integers of the host's in double, and all else as it is: a DeviceArray has running sums of integers in double, and
## Octave from 11 on has them in their own class.
## @end deftypefn

function x = widened (x)
  if (isinteger (x) && ! isa (x, "DeviceArray"))
    x = double (x);
  endif
endfunction
