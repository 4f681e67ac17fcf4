function v = triu (u, k)
%triu  A matrix with zeros below a diagonal.
%
%   V = triu (U)     below the main one
%   V = triu (U, K)  below the K-th above it
%
%   Example
%     gather (triu (DeviceArray ([1 2; 3 4])))  % 1 2; 0 4
%
%   See also DeviceArray, tril.

  if nargin < 2
    k = 0;
  end
  ordinary ('triu', k);
  v = DeviceArray_CUDA ('triu', u, k);
end
