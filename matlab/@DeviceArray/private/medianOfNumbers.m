function m = medianOfNumbers (u, dim)
%medianOfNumbers  Medians of what is no NaN: each line may have another number
%                 of them, which stand first in order.

  d = DeviceArray_CUDA ('size', u);
  if dim == 0
    dim = 1:numel (d);
  elseif dim < 0
    dim = find ([d 2] ~= 1, 1);
  end
  if prod (d) == 0 || all (dim > numel (d))
    m = DeviceArray_CUDA ('median', u, dim(end));
    return
  end
  [u, ~, d] = asOne (u, dim);
  lines = DeviceArray_CUDA ('size', u);
  lines(end+1:3) = 1;
  counts = gather (sum (~isnan (u), 2));
  u = DeviceArray_CUDA ('sort', u, 2, 'ascend');
  first = bsxfun (@plus, (1:lines(1))', lines(1) * lines(2) * reshape (0:lines(3)-1, 1, 1, []));
  at = @(place) first + lines(1) * (max (place, 1) - 1);
  m = DeviceArray_CUDA ('pick', u, at (floor ((counts + 1) / 2)));
  values = gather (m) + 0;
  even = mod (counts, 2) == 0 & counts > 0;
  upper = gather (DeviceArray_CUDA ('pick', u, at (floor (counts / 2) + 1)));
  values(even) = (values(even) + upper(even)) / 2;
  if isa (m, 'DeviceArray')
    m = DeviceArray_CUDA ('reshape', DeviceArray_CUDA ('put', m, values, ':'), d);
  else
    m = values;
  end
end
