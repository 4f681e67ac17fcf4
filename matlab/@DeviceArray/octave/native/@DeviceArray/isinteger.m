function yes = isinteger (u)
%isinteger  Whether the values are of an integer class.
%
%   YES = isinteger (U)
%
%   Example
%     isinteger (DeviceArray (int8 ([1 2])))  % true
%
%   See also DeviceArray, isfloat, islogical.

  yes = ~isfloat (u) && ~islogical (u);
end
