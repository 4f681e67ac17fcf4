function c = merge (mask, a, b)
%merge  One of two, element by element, as a mask says.
%
%   C = merge (MASK, A, B)
%
%   A where MASK is true, and B elsewhere. MASK holds truth values. A and B are
%   of one class, and have the size of MASK or one element; one of the three at
%   least is a DeviceArray. What is not chosen leaves no trace, NaN neither.
%
%   A MASK of one element chooses A or B as they are, of any size and class.
%   While a step is recorded it has no value yet: there A and B are of one
%   class, and of one size or one element.
%
%   Example
%     u = DeviceArray ([1 -4 9]);
%     gather (merge (u > 0, sqrt (u), 0))  % 1 0 3
%
%   See also DeviceArray, iterate, find.

  if nargin < 3
    tooFew ('merge (MASK, A, B)');
  end
  if isscalar (mask) && islogical (mask) && ~is_recorded (mask)
    if any (mask)
      c = a;
    else
      c = b;
    end
    if isa (c, 'DeviceArray') && isscalar (c) && ~is_recorded (c)
      c = gather (c);
    end
  else
    c = DeviceArray_CUDA ('merge', mask, a, b);
  end
end

% True if it belongs to a step that is being recorded, and has no value yet.
function yes = is_recorded (u)
  yes = isa (u, 'DeviceArray') && DeviceArray_CUDA ('where', u).Recorded;
end
