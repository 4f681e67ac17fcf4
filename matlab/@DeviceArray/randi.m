function u = randi (limits, varargin)
%randi  Random whole numbers on the device.
%
%   U = DeviceArray.randi (MAX, N)            from 1 to MAX
%   U = DeviceArray.randi ([LOW HIGH], M, N, ...)
%   U = DeviceArray.randi (..., CLASS, NAME, VALUE, ...)
%   U = randi (..., 'like', V)
%
%   CLASS is 'double' (the default), 'single', or a class of integers from
%   'int8' to 'uint32'. LOW + floor ((HIGH - LOW + 1) * rand (...)), in double.
%
%   Errors
%     DeviceArray:option  limits that are no whole numbers, out of order, beyond
%                         2^53 or beyond the class
%
%   Example
%     DeviceArray.rng (1);
%     dice = DeviceArray.randi (6, 1, 10);
%
%   See also rand, randn, rng.

  [dims, name, options] = sized (varargin);
  if isscalar (limits)
    limits = [1 limits];
  end
  isInteger = ~any (strcmp (name, {'double', 'single'}));
  if isInteger && any (strcmp (name, {'logical', 'int64', 'uint64'}))
    error ('DeviceArray:dataType', 'Random whole numbers are of class double or single, or integers of up to 32 bits.');
  end
  most = flintmax (regexprep (name, '^u?int.*', 'double'));
  if isInteger
    ends = double ([intmin(name) intmax(name)]);
  else
    ends = [-most most];
  end
  limits = double (limits);
  if numel (limits) ~= 2 || any (limits ~= fix (limits)) || limits(1) > limits(2) || limits(1) < ends(1) || limits(2) > ends(2) ...
     || diff (limits) >= flintmax
    badOption (sprintf ('Limits are MAX or [LOW HIGH], whole numbers that class %s has, and these are [%s].', name, ...
                        strjoin (arrayfun (@(x) sprintf ('%.17g', x), limits(:).', 'UniformOutput', false), ' ')));
  end
  u = limits(1) + floor ((limits(2) - limits(1) + 1) * DeviceArray_CUDA ('rand', dims, 'double', options{:}));
  if ~isa (u, 'DeviceArray')
    % One element comes as an ordinary number.
    u = DeviceArray (cast (u, name), options{:});
  elseif ~strcmp (name, 'double')
    u = DeviceArray_CUDA ('convert', u, name);
  end
end
