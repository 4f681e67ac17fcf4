function s = sumAlong (x, dim)
%sumAlong  Sums along a dimension as a verb takes it, of a result that is an
%   ordinary number where it has one element.

  if isa (x, 'DeviceArray')
    s = DeviceArray_CUDA ('sum', x, dim);
  else
    s = sum (x);
  end
end
