function n = extent (u, dim)
%extent  How many elements there are along a dimension as a verb takes it.

  d = DeviceArray_CUDA ('size', u);
  if dim == 0
    n = prod (d);
  else
    if dim < 0
      dim = find ([d 2] ~= 1, 1);
    end
    d(end+1:dim) = 1;
    n = d(dim);
  end
end
