function refused (name, instead)
%refused  The error of a function that says by itself only that it does not know the class.

  if nargin < 2
    instead = [name ' (gather (u), ...)'];
  end
  error ('DeviceArray:unsupported', 'Not supported for a DeviceArray: %s. Gather it first: %s.', name, instead);
end
