## -*- texinfo -*-
## @deftypefn {} {@var{list} =} array_classes ()
## The classes of a DeviceArray, as functions that convert to them.
## @end deftypefn

function list = array_classes ()
  list = {@double, @single, @logical, @int8, @uint8, @int16, @uint16, @int32, @uint32};
endfunction
