function delete (u) %#ok<INUSD>
%delete  Nothing: an array is freed when its last name is gone.
%
%   delete (U)
%
%   In MATLAB it frees the array at once. Here CLEAR U does, where no other
%   name of the array is left.
%
%   See also DeviceArray.

end
