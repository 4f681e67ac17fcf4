function v = circshift (u, n, dim)
%circshift  Elements moved on, and round from the end to the beginning.
%
%   V = circshift (U, N)       along the first dimension that is not 1
%   V = circshift (U, [M N])   by M along the first dimension, N along the next
%   V = circshift (U, N, DIM)
%
%   Example
%     gather (circshift (DeviceArray ([1 2 3]), 1))  % 3 1 2
%
%   See also DeviceArray, flip, rot90.

  if nargin < 2
    tooFew ('circshift (U, N)');
  elseif nargin < 3
    dim = -1;
  end
  ordinary ('circshift', n, dim);
  if nargin == 3 || isscalar (n)
    v = DeviceArray_CUDA ('circshift', u, n, dim);
    return
  end
  v = u;
  for k = 1:numel (n)
    v = DeviceArray_CUDA ('circshift', v, n(k), k);
  end
end
