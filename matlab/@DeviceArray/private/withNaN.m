function c = withNaN (c, w)
%withNaN  With NaN where W is true; of a class that has none, as it is.

  if isa (c, 'DeviceArray') && isfloat (c)
    c = DeviceArray_CUDA ('put', c, NaN, w);
  elseif isfloat (c) && w
    c(:) = NaN;
  end
end
