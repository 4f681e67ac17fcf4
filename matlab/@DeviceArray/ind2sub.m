function varargout = ind2sub (dims, at)
%ind2sub  Subscripts of places in an array, which are counted along its columns.
%
%   [I, J, ...] = ind2sub (DIMS, AT)
%
%   DIMS is the array's size. I, J, ... are as large as AT, on the device. The
%   last of them counts through all dimensions that are left.
%
%   Errors
%     DeviceArray:index  a place that is no whole number from 1 to prod (DIMS)
%
%   Example
%     [i, j] = ind2sub ([3 4], DeviceArray ([1 6]));
%     gather ([i; j])  % 1 3; 1 2
%
%   See also DeviceArray, sub2ind, find.

  ordinary ('ind2sub', dims);
  dims = dimensions ({dims});
  if ~all (at(:) >= 1 & at(:) <= prod (dims) & at(:) == fix (at(:)))
    error ('DeviceArray:index', 'ind2sub: a place is no whole number from 1 to %d.', prod (dims));
  end
  count = max (nargout, 1);
  dims(end+1:count) = 1;
  varargout = cell (1, count);
  rest = double (at) - 1;
  for k = 1:count-1
    varargout{k} = mod (rest, dims(k)) + 1;
    rest = floor (rest / dims(k));
  end
  varargout{count} = rest + 1;
end
