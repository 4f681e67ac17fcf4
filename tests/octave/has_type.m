## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} has_type ()
## Whether a DeviceArray is of Octave's own kind here, not an object of the class:
## the library for this Octave is there.
## @end deftypefn

function yes = has_type ()
  yes = ! strcmp (typeinfo (DeviceArray (1)), "object");
endfunction
