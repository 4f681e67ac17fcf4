function at = sub2ind (dims, varargin)
%sub2ind  Places in an array, counted along its columns, of subscripts.
%
%   AT = sub2ind (DIMS, I, J, ...)
%
%   DIMS is the array's size, and I, J, ... are of one size, each on the device
%   or ordinary. So is AT, which u(AT) takes. The last subscript counts through
%   all dimensions that are left.
%
%   Errors
%     DeviceArray:index  a subscript that is no whole number from 1 to its size
%     DeviceArray:size   subscripts of other sizes
%
%   Example
%     gather (sub2ind ([3 4], DeviceArray ([1 3]), [1 2]))  % 1 6
%
%   See also DeviceArray, ind2sub, find.

  ordinary ('sub2ind', dims);
  dims = dimensions ({dims});
  count = numel (varargin);
  dims(end+1:count) = 1;
  dims = [dims(1:count-1), prod(dims(count:end))];
  [at, stride] = deal (1, 1);
  for k = 1:count
    i = varargin{k};
    if ~isequal (size (i), size (varargin{1}))
      error ('DeviceArray:size', 'sub2ind: subscript 1 is %s, and subscript %d %s.', sizeText (size (varargin{1})), k, ...
             sizeText (size (i)));
    end
    if ~all (i(:) >= 1 & i(:) <= dims(k) & i(:) == fix (i(:)))
      error ('DeviceArray:index', 'sub2ind: subscript %d is not everywhere a whole number from 1 to %d.', k, dims(k));
    end
    at = at + (double (i) - 1) * stride;
    stride = stride * dims(k);
  end
end
