function [dims, name, options] = sized (given)
%sized  Dimensions, class and options of what makes an array: (N), (M, N, ...),
%   ([M N ...]), then a class, or 'like' and an array, and options.

  count = 0;
  while count < numel (given) && isnumeric (given{count+1})
    count = count + 1;
  end
  dims = dimensions (given(1:count));
  if count == 0
    dims = 1;
  end
  if numel (dims) == 1
    dims = [dims dims];
  end
  name = 'double';
  options = given(count+1:end);
  if isempty (options)
    return
  end
  classes = {'double', 'single', 'logical', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'};
  if any (strcmp (options{1}, classes))
    name = options{1};
    options = options(2:end);
  elseif numel (options) == 2 && strcmpi (options{1}, 'like') && isa (options{2}, 'DeviceArray')
    % In the place and the class of that array.
    name = DeviceArray_CUDA ('class', options{2});
    options = placeOf (options{2});
  end
end
