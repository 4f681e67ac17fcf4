function r = dot (a, b, varargin)
%dot  Dot products.
%
%   X = dot (U, V)       of two vectors, or along the first dimension that is
%                        not 1
%   X = dot (U, V, DIM)  along DIM
%
%   U and V have one size; vectors may lie across each other. One of them may be
%   an ordinary array. One product is an ordinary number. Products of integers
%   saturate, and are added in double.
%
%   Example
%     dot (DeviceArray ([1 2 3]), [4 5 6])  % 32
%
%   See also DeviceArray, norm, sum.

  if nargin < 2
    tooFew ('dot (U, V)');
  end
  da = size (a);
  db = size (b);
  vectors = numel (da) == 2 && numel (db) == 2 && any (da == 1) && any (db == 1);
  if vectors && isempty (varargin)
    if prod (da) ~= prod (db)
      error ('DeviceArray:size', 'dot: the vectors have %d and %d elements.', prod (da), prod (db));
    end
    b = reshape (b, da);
    if isa (a, 'DeviceArray') && isa (b, 'DeviceArray') && ~isinteger (a) && ~isinteger (b)
      r = DeviceArray_CUDA ('dot', a, b);
    else
      r = sumAlong (DeviceArray_CUDA ('times', a, b), 0);
    end
  elseif isequal (da, db)
    dim = -1;
    if ~isempty (varargin)
      dim = alongOne (varargin{:}, 'dot');
    end
    r = sumAlong (DeviceArray_CUDA ('times', a, b), dim);
  else
    error ('DeviceArray:size', 'dot: the arrays have the sizes %s and %s.', sizeText (da), sizeText (db));
  end
end
