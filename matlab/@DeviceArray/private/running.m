function [w, place] = running (verb, u, dim)
%running  Computes CUMMAX and CUMMIN. Each pass covers twice as many elements as
%         the one before, so there are few.

  d = DeviceArray_CUDA ('size', u);
  if dim < 0
    dim = find ([d 2] ~= 1, 1);
  end
  if prod (d) == 1
    w = oneNumber (u);
    place = 1;
    return
  end
  [w, dim, ~] = asOne (u, dim);
  n = size (w, dim);
  w = passes (verb, w, n, dim);
  if nargout > 1
    % The number of each element that changes the result; 0 for others.
    places = reshape (1:n, [ones(1, dim - 1), n, 1]);
    isNew = ~(DeviceArray_CUDA ('circshift', w, 1, dim) == w | isnan (w));
    place = DeviceArray_CUDA ('times', isNew, places);
    if n > 0
      ahead = {':', ':', ':'};
      ahead{dim} = 1;
      place = passes ('max', DeviceArray_CUDA ('put', place, 1, ahead{:}), n, dim);
    end
    place = DeviceArray_CUDA ('reshape', place, d);
  end
  w = DeviceArray_CUDA ('reshape', w, d);
end

function w = passes (verb, w, n, dim)
  index = {':', ':', ':'};
  s = 1;
  while s < n
    index{dim} = 1:s;
    first = DeviceArray_CUDA ('pick', w, index{:});
    w = DeviceArray_CUDA ('put', DeviceArray_CUDA (verb, w, DeviceArray_CUDA ('circshift', w, s, dim)), first, index{:});
    s = 2 * s;
  end
end
