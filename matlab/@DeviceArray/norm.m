function r = norm (a, p)
%norm  Norm of a vector, or 'fro' of a matrix.
%
%   X = norm (U)     the 2-norm
%   X = norm (U, P)  P is 1, 2, Inf, -Inf or 'fro'
%
%   X is an ordinary number of U's class. Squares that leave the range of the
%   class are scaled. Other norms of matrices are errors.
%
%   Example
%     norm (DeviceArray ([3 4]))  % 5
%
%   See also DeviceArray, dot, sumsq.

  if nargin < 2
    p = 2;
  end
  d = size (a);
  if ischar (p)
    p = lower (p);
    if strcmp (p, 'inf')
      p = Inf;
    end
  end
  if strcmp (p, 'fro') && numel (d) == 2
    p = 2;
  elseif numel (d) > 2 || all (d ~= 1) && all (d ~= 0)
    refuse ('norm of a matrix but norm (u, ''fro'')', 'norm (gather (u), p)');
  end
  name = DeviceArray_CUDA ('class', a);
  if ~any (strcmp (name, {'double', 'single'}))
    refuse (['norm of class ' name], 'norm (double (u), p)');
  elseif prod (d) == 0
    r = zeros (1, name);
  elseif prod (d) == 1 && (ischar (p) || any (p == [1 2 Inf -Inf]))
    r = DeviceArray_CUDA ('abs', a);
  elseif isequal (p, 2)
    r = sqrt (DeviceArray_CUDA ('dot', a, a));
    % The squares may have left the range of the class. A step that is recorded
    % has no values to ask, and does both.
    largest = realmax (name);
    off = r > 1e-6 * sqrt (largest) | r < 1e6 * sqrt (1 / largest);
    if isa (off, 'DeviceArray') || off
      m = DeviceArray_CUDA ('amax', a, 0);
      off = off & m > 0 & m < Inf;
      a = DeviceArray_CUDA ('rdivide', a, m);
      scaled = m * sqrt (DeviceArray_CUDA ('dot', a, a));
      if isa (off, 'DeviceArray')
        r = merge (off, scaled, r);
      elseif off
        r = scaled;
      end
    end
  elseif isequal (p, 1)
    r = DeviceArray_CUDA ('asum', a, 0);
  elseif isequal (p, Inf)
    r = orNaN (DeviceArray_CUDA ('amax', a, 0), a);
  elseif isequal (p, -Inf)
    r = orNaN (DeviceArray_CUDA ('smallest', DeviceArray_CUDA ('abs', a), 0), a);
  else
    refuse ('norm but with 1, 2, Inf, -Inf or ''fro''', 'norm (gather (u), p)');
  end
end

% R, or NaN where the array has one: it is one in the sum of the magnitudes.
function r = orNaN (r, a)
  sum_of_all = DeviceArray_CUDA ('asum', a, 0);
  r = merge (isnan (sum_of_all), sum_of_all, r);
end
