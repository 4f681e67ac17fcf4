function u = beside (x, like)
%beside  A DeviceArray of X where LIKE lies.

  where = DeviceArray_CUDA ('where', like);
  if where.Device > 0
    u = DeviceArray (x, 'Backend', where.Backend, 'Device', where.Device);
  else
    u = DeviceArray (x, 'Backend', where.Backend);
  end
end
