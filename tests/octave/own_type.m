## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} own_type ()
## True if a DeviceArray is of a type of Octave's own here, and not an object of the class.
## @end deftypefn

function yes = own_type ()
  yes = ! isa (DeviceArray ([1 2], "Backend", "cpu"), "handle");
endfunction
