function [c, i] = withPlaces (verb, u, dim)
%withPlaces  The largest or the smallest, and where they are: numbers both,
%            where they are one.

  if ~isscalar (dim)
    refuse ('places along several dimensions', '[m, i] = max (gather (u), [], dims)');
  end
  [c, i] = DeviceArray_CUDA (verb, u, dim);
  if isa (c, 'DeviceArray') && numel (c) == 1
    c = oneNumber (c);
    i = oneNumber (i);
  end
end
