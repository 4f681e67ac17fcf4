function v = tril (u, k)
%tril  A matrix with zeros above a diagonal.
%
%   V = tril (U)     above the main one
%   V = tril (U, K)  above the K-th above it
%
%   Example
%     gather (tril (DeviceArray ([1 2; 3 4])))  % 1 0; 3 4
%
%   See also DeviceArray, triu.

  if nargin < 2
    k = 0;
  end
  ordinary ('tril', k);
  v = DeviceArray_CUDA ('tril', u, k);
end
