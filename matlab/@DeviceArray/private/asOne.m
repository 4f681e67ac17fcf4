function [u, dim, d] = asOne (u, dims)
%asOne  An array whose dimensions DIMS, which are in order, are one, DIM. D
%       are the sizes with 1 in their place.

  d = DeviceArray_CUDA ('size', u);
  dims = dims(dims <= numel (d));
  if isempty (dims)
    dim = numel (d) + 1;
    return
  end
  others = 1:numel (d);
  others(dims) = [];
  ahead = others(others < dims(1));
  if any (diff (dims) ~= 1)
    u = DeviceArray_CUDA ('permute', u, [ahead, dims, others(numel (ahead)+1:end)]);
  end
  u = DeviceArray_CUDA ('reshape', u, [prod(d(ahead)), prod(d(dims)), prod(d(others(numel (ahead)+1:end)))]);
  d(dims) = 1;
  dim = 2;
end
