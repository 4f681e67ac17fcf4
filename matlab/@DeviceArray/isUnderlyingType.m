function yes = isUnderlyingType (this, name)
%isUnderlyingType  Whether the values are of a class.
%
%   YES = isUnderlyingType (U, NAME)
%
%   Example
%     isUnderlyingType (DeviceArray (1), 'double')  % 1
%
%   See also DeviceArray, underlyingType.

  yes = strcmp (DeviceArray_CUDA ('class', this), name);
end
