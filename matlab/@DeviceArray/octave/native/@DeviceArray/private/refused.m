function refused (name, instead, here)
%refused  The error of a function that says by itself only that it does not know the class: what takes an ordinary
%         array, or, where HERE is given, what does that on the device.

  if nargin == 3
    error ('DeviceArray:unsupported', 'Not supported for a DeviceArray: %s. On the device it is %s.', name, here);
  elseif nargin < 2
    instead = [name ' (gather (u), ...)'];
  end
  error ('DeviceArray:unsupported', 'Not supported for a DeviceArray: %s. Gather it first: %s.', name, instead);
end
