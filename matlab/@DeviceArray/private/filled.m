function u = filled (value, varargin)
%filled  An array of one value: what ZEROS and ONES take.

  [dims, name, options] = sized (varargin);
  if ~isfinite (value) && ~any (strcmp (name, {'double', 'single'}))
    error ('DeviceArray:dataType', 'NaN and Inf are of class double or single, and not of %s.', name);
  end
  u = DeviceArray_CUDA ('fill', value, dims, name, options{:});
end
