function y = nthroot (x, n)
%nthroot  Real roots.
%
%   Y = nthroot (U, N)
%
%   The root of degree N, a number that is not 0, of each element. Where U is
%   negative it is that of -U with a minus if N is odd, else NaN. Cube roots are
%   those of cbrt.
%
%   Example
%     gather (nthroot (DeviceArray ([-8 27]), 3))  % -2 3
%
%   See also DeviceArray, power, sqrt.

  if nargin < 2
    tooFew ('nthroot (U, N)');
  end
  if ~(isnumeric (n) && isreal (n) && isscalar (n) && n ~= 0)
    badOption (sprintf ('Bad value for N of nthroot (U, N): got %s, expected a number that is not 0.', toldValue (n)));
  end
  if n < 0
    y = 1 ./ nthroot (x, -n);
  elseif n == 3
    y = cbrt (x);
  elseif mod (n, 2) == 1
    y = towards (x, abs (x) .^ (1 / n) .* sign (x), n);
  else
    y = x .^ (1 / n);
    if n == fix (n) && isfinite (n)
      y = towards (x, y, n);
    end
  end
end

% A step of Newton's method, since 1 / N was rounded. It finds no number for zeros and infinities, which are roots of
% themselves, and for NaN.
function y = towards (x, y, n)
  better = ((n - 1) * y + x ./ y .^ (n - 1)) / n;
  y = merge (isfinite (better), better, merge (isnan (y), y, x));
end
