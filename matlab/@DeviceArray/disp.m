function text = disp (u)
%disp  Size, class, place and the first values.
%
%   disp (U)
%   TEXT = disp (U)
%
%   Example
%     disp (DeviceArray (1:3))
%
%   See also DeviceArray, gather.

  where = DeviceArray_CUDA ('where', u);
  d = DeviceArray_CUDA ('size', u);
  shown = min (prod (d), 5);
  values = '';
  if shown > 0
    values = sprintf ('  %g', DeviceArray_CUDA ('pick', u, 1:shown));
    if shown < prod (d)
      values = [values '  ...'];
    end
    values = sprintf (' %s\n', values);
  end
  words = sprintf ('  DeviceArray: %s %s on %s\n%s', sizeText (d), DeviceArray_CUDA ('class', u), ...
                   where.Place, values);
  if nargout > 0
    text = words;
  else
    fprintf ('%s', words);
  end
end
