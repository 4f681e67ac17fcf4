function saved = saveobj (u)
%saveobj  Gives the values of an object to a file of MATLAB's formats.
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
