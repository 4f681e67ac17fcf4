% Boundaries: what the ghost values outside an array are. Three taps reach one sample beyond either end.

x = [1 2 3];
first = [1 0 0];   % takes the left neighbour of each sample
last = [0 0 1];    % takes the right one

names = {0, 20, 'replicate', 'symmetric', 'mirror', 'circular'};
for i = 1:numel (names)
  low = StencilConstantMemory_CUDA (x, first, 'Boundary', names{i}, 'Backend', 'cpu');
  high = StencilConstantMemory_CUDA (x, last, 'Boundary', names{i}, 'Backend', 'cpu');
  printf ('%-10s %2d | 1 2 3 | %d\n', num2str (names{i}), low(1), high(end));
  ends(i,:) = [low(1), high(end)];
end
assert (ends, [0 0; 20 20; 1 3; 1 3; 2 2; 3 1]);

% 'replicate' and 'symmetric' differ from the second ghost value on.
far = StencilConstantMemory_CUDA (1:5, [1 0 0 0 0], 'Boundary', 'symmetric', 'Backend', 'cpu');
assert (far(1), 2);

% Each end may have its own.
y = StencilConstantMemory_CUDA (x, [1 0 1], 'Boundary', {10, 'replicate'}, 'Backend', 'cpu');
disp (y);
assert (y, [12 4 5]);
