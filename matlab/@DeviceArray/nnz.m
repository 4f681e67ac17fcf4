function n = nnz (a)
%nnz  How many elements are not zero.
%
%   N = nnz (U)
%
%   N is an ordinary number. NaN is not zero.
%
%   Example
%     nnz (DeviceArray ([0 5 0 NaN]))  % 2
%
%   See also DeviceArray, any, all.

  n = sum (double (a ~= 0), 'all');
end
