% Arrays that stay where they are computed on: on the GPU, if there is one, else in memory of the library.
%
% Calls on ordinary arrays send them to the GPU and back each time. A DeviceArray goes there once, and only what you ask
% for comes back. 'Backend', 'cpu' is named here for a machine without a GPU; leave it out on one that has one.

x = linspace (-1, 1, 1001)';
u = DeviceArray (x, 'Backend', 'cpu');

v = sqrt (u .^ 2 + 1) ./ 2;                       % arithmetic stays there
w = StencilConstantMemory_CUDA (v, [1 2 1] / 4);  % a DeviceArray in, a DeviceArray out
printf ('w is a %s of %d x %d\n', class (w), size (w));

total = sum (w);             % one number is an ordinary number
some = gather (w(1:3));      % a part stays there; only these three are moved
y = gather (w);              % all of it, as an ordinary array
printf ('the sum is %.6f\n', total);

assert (isnumeric (total) && isnumeric (some) && isa (y, 'double'));
assert (y, StencilConstantMemory_CUDA (sqrt (x .^ 2 + 1) / 2, [1 2 1] / 4, 'Backend', 'cpu'), 1e-15);
assert (some, y(1:3));

% So a condition works as with ordinary arrays.
if (all (w > 0))
  w(w > 1) = 1;              % a mask that stays there
end
assert (max (w) <= 1);
