## -*- texinfo -*-
## @deftypefn {} {@var{name} =} random_class ()
## The name of a class that a DeviceArray may have.
## @end deftypefn

function name = random_class ()
  name = random_pick ("double", "double", "double", "single", "single", "logical", "int8", "uint8", "int16", "uint16", "int32", "uint32");
endfunction

