function text = disp (u)
%disp  Size, class and place, and the values as the host shows them.
%
%   disp (U)
%   TEXT = disp (U)
%
%   Of a large array, the first eight rows and columns of the first page: only
%   they come from the device.
%
%   Example
%     disp (DeviceArray (magic (3)))
%
%   See also DeviceArray, gather.

  where = DeviceArray_CUDA ('where', u);
  d = DeviceArray_CUDA ('size', u);
  place = ['on ' where.Place];
  if strcmp (where.Backend, 'cpu')
    place = ['in ' where.Place];
  end
  words = sprintf ('  DeviceArray, %s %s %s', sizeText (d), DeviceArray_CUDA ('class', u), place);
  if all (d)
    corner = [min(d(1:2), 8), ones(1, numel (d) - 2)];
    if ~isequal (corner, d)
      words = sprintf ('%s; its first %d x %d:', words, corner(1), corner(2));
    end
    index = num2cell (corner);
    index(1:2) = {1:corner(1), 1:corner(2)};
    values = DeviceArray_CUDA ('pick', u, index{:});
    if isa (values, 'DeviceArray')
      values = DeviceArray_CUDA ('gather', values); %#ok<NASGU>
    end
    words = sprintf ('%s\n\n%s', words, evalc ('disp (values)'));
  else
    words = sprintf ('%s\n', words);
  end
  if nargout > 0
    text = words;
  else
    fprintf ('%s', words);
  end
end
