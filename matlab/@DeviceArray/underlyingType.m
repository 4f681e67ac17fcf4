function name = underlyingType (this)
%underlyingType  The class of the values.
%
%   NAME = underlyingType (U)
%
%   'double', 'single', 'logical', or a class of integers, 'int8' to 'uint32'.
%   class (U) is 'DeviceArray'.
%
%   Example
%     underlyingType (DeviceArray (single (1)))  % 'single'
%
%   See also DeviceArray, isUnderlyingType.

  name = DeviceArray_CUDA ('class', this);
end
