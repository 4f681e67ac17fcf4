% Two arrays, one step after the other: waves in a basin. The new level is computed from the newest and the one before:
% a convolution, a difference, and the names move on. Nothing leaves the device until it is drawn or counted.

n = 64;
[x, y] = meshgrid ((1:n) - n / 2);
p = DeviceArray (exp (-(x .^ 2 + y .^ 2) / 20), 'Backend', 'cpu');   % a drop
before = p;                                                          % at rest
around = [0 1 0; 1 4 1; 0 1 0] / 4;                                  % 2 p + the Laplacian, with dt^2 / h^2 = 1/4

start = sum (sum (gather (p)));
for step = 1:60
  next = ConvolutionConstantMemory_CUDA (p, around, 'Boundary', 'symmetric') - before;
  before = p;
  p = next;
end
p = gather (p);
printf ('after 60 steps the highest wave is %.3f, and the sum has moved by %.1e\n', max (p(:)), sum (p(:)) - start);
assert (abs (sum (p(:)) - start) < 1e-9 && max (p(:)) < 0.5);

% All steps of such a scheme can be one call, too.
[q, qBefore] = ConvolutionConstantMemory_CUDA (exp (-(x .^ 2 + y .^ 2) / 20), around, 'Boundary', 'symmetric', ...
    'Previous', exp (-(x .^ 2 + y .^ 2) / 20), 'Weight', -1, 'Iterations', 60, 'Backend', 'cpu');
assert (q, p, 1e-12);
