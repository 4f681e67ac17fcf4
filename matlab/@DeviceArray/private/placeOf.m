function options = placeOf (like)
%placeOf  The options by which a DeviceArray is made where LIKE lies.

  at = DeviceArray_CUDA ('where', like);
  options = {'Backend', at.Backend};
  if at.Device > 0
    options = [options, {'Device', at.Device}];
  end
end
