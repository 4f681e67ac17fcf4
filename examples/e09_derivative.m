% The first derivative, of eighth order: nine points, so that an error falls by 2^8 when the points are twice as close.

for n = [32 64]
  h = 2 * pi / n;
  x = h * (0:n-1)';
  f = exp (sin (x));                                   % goes round after 2 pi
  d = DerivativeConstantMemory_CUDA (f, h, 'Boundary', 'circular', 'Backend', 'cpu');
  errors(n / 32) = max (abs (d - cos (x) .* f));
  printf ('%3d points: off by at most %.1e\n', n, errors(n / 32));
end
order = log2 (errors(1) / errors(2));
printf ('order %.1f\n', order);
assert (order > 7 && order < 9);

% Samples outside are zero unless a boundary is named: then the first four values and the last four are no derivative.
line = (1:50)';
d = DerivativeConstantMemory_CUDA (line, 1, 'Backend', 'cpu');
assert (d(5:end-4), ones (42, 1), 1e-12);
assert (any (abs (d([1:4, end-3:end]) - 1) > 0.1));

% Along another dimension, and in single.
surface = single (line) * single (1:20);
d = DerivativeConstantMemory_CUDA (surface, single (1), 'Dim', 1, 'Backend', 'cpu');
assert (class (d), 'single');
