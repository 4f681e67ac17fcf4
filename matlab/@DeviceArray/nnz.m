function n = nnz (u)
%nnz  How many elements are not zero.
%
%   N = nnz (U)
%
%   An ordinary number. NaN is not zero.
%
%   Example
%     nnz (DeviceArray ([0 5 0 NaN]))  % 2
%
%   See also DeviceArray, any, all.

  n = DeviceArray_CUDA ('nnz', u, 0);
end
