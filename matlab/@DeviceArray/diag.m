function v = diag (u, k, columns)
%diag  A diagonal of a matrix, or a matrix with one.
%
%   V = diag (U)        the main diagonal of a matrix, as a column; a matrix
%                       whose main diagonal is the vector U
%   V = diag (U, K)     the K-th above it
%   V = diag (U, M, N)  M x N, with the vector U
%
%   Example
%     gather (diag (DeviceArray ([1 2; 3 4])))  % 1; 4
%
%   See also DeviceArray, triu, tril.

  if nargin < 2
    k = 0;
  end
  if nargin < 3
    ordinary ('diag', k);
  else
    ordinary ('diag', k, columns);
  end
  d = size (u);
  if ~isnumeric (k) || ~isscalar (k) || k ~= fix (k) || numel (d) > 2 || nargin > 2 && all (d ~= 1)
    error ('DeviceArray:dimension', ...
           'diag: expected a matrix and a whole number, or a vector and sizes, and the array is %s.', sizeText (d));
  end
  n = prod (d);
  if nargin > 2
    sizes = double ([k, columns]);
    k = 0;
  else
    k = double (k);
    sizes = [n n] + abs (k);
  end
  if any (d == 1)
    if any (sizes < n)
      error ('DeviceArray:size', 'diag: %d elements are more than a matrix of %s has place for.', n, sizeText (sizes));
    end
    v = filled (0, sizes, 'like', u);
    if n > 0
      v = DeviceArray_CUDA ('put', v, u, 1 + max (k, 0) * sizes(1) - min (k, 0) + (0:n-1) * (sizes(1) + 1));
    end
  else
    n = max (min (d(1) + min (k, 0), d(2) - max (k, 0)), 0);
    v = DeviceArray_CUDA ('pick', u, 1 + max (k, 0) * d(1) - min (k, 0) + (0:n-1)' * (d(1) + 1));
    if all (d == 0)
      v = DeviceArray_CUDA ('reshape', v, [0 0]);
    end
  end
end
