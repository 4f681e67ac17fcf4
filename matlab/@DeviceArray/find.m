function [i, j, v] = find (u, n, which)
%find  Places of elements that are not zero.
%
%   PLACE = find (U)
%   PLACE = find (U, N)            the first N of them
%   PLACE = find (U, N, 'last')    the last N of them
%   [ROW, COLUMN] = find (U, ...)  of an array taken for a matrix
%   [ROW, COLUMN, VALUE] = find (U, ...)
%
%   The places are in double, counted from 1, and stay on the device. For
%   U(FIND (MASK)) write U(MASK).
%
%   Example
%     gather (find (DeviceArray ([0 5 0 7])))  % 2 4
%
%   See also DeviceArray, any, nnz, sort.

  if nargin > 1
    ordinary ('find', n);
  end
  at = DeviceArray_CUDA ('find', u);
  if nargin > 1
    if ~isnumeric (n) || ~isscalar (n) || ~(n >= 1) || n ~= fix (n)
      error ('DeviceArray:option', 'find: how many must be a whole number from 1 up.');
    end
    many = numel (at);
    if n < many && isa (at, 'DeviceArray')
      if nargin > 2 && strcmp (which, 'last')
        at = DeviceArray_CUDA ('pick', at, many - n + 1:many);
      else
        at = DeviceArray_CUDA ('pick', at, 1:n);
      end
    end
  end
  i = at;
  if nargout > 1
    rows = size (u, 1);
    i = mod (at - 1, rows) + 1;
    j = (at - i) / rows + 1;
  end
  if nargout > 2
    v = DeviceArray_CUDA ('pick', u, at);
  end
end
