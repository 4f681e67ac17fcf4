function u = filled (value, varargin)
%filled  An array of one value: what ZEROS and ONES take.

  count = 0;
  while count < numel (varargin) && isnumeric (varargin{count+1})
    count = count + 1;
  end
  dims = dimensions (varargin(1:count));
  if count == 0
    dims = 1;
  end
  if numel (dims) == 1
    dims = [dims dims];
  end
  name = 'double';
  options = varargin(count+1:end);
  classes = {'double', 'single', 'logical', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'};
  if ~isempty (options) && any (strcmp (options{1}, classes))
    name = options{1};
    options = options(2:end);
  elseif numel (options) == 2 && strcmpi (options{1}, 'like') && isa (options{2}, 'DeviceArray')
    % Where that array lies, in its class.
    name = DeviceArray_CUDA ('class', options{2});
    at = DeviceArray_CUDA ('where', options{2});
    options = {'Backend', at.Backend};
    if at.Device > 0
      options = [options, {'Device', at.Device}];
    end
  end
  if ~isfinite (value) && ~any (strcmp (name, {'double', 'single'}))
    error ('DeviceArray:dataType', 'NaN and Inf are of class double or single, and not of %s.', name);
  end
  u = DeviceArray_CUDA ('fill', value, dims, name, options{:});
end
