function refused (name)
%refused  The error of a function that says by itself only that it does not know the class.

  error ('DeviceArray:unsupported', ...
         'Not supported for a DeviceArray: %s. Gather it first: %s (gather (u), ...).', name, name);
end
