function saved = saveobj (u)
%saveobj  What a file of MATLAB's formats has of an object: its values.
%
%   SAVED = saveobj (U)
%
%   SAVE calls it. SAVED is a struct with the field 'values', an ordinary array,
%   of which LOAD makes a DeviceArray in MATLAB.
%
%   Example
%     saved = saveobj (DeviceArray ([1 2 3]));
%     saved.values                             % 1 2 3
%
%   See also DeviceArray, gather.

  saved = struct ('values', gather (u));
end
