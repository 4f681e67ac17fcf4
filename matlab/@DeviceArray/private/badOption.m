function badOption (text)
%badOption  The error of an option of iterate and compile.

  error ('DeviceArray:option', 'DeviceArray: %s', text);
end
