% Many sweeps in one call: heat in a rod whose ends are kept at 0 degrees. A step of the explicit scheme is a filter of
% three taps, and 'Iterations' does all steps at once. On a GPU the rod stays there meanwhile.

n = 99;
x = (1:n)' / (n + 1);            % nodes between the walls at 0 and 1
lambda = 0.4;                    % dt / h^2, up to 1/2
steps = 2000;
u = sin (pi * x);

v = StencilConstantMemory_CUDA (u, [lambda, 1 - 2 * lambda, lambda], 'Iterations', steps, 'Backend', 'cpu');

t = steps * lambda / (n + 1) ^ 2;
exact = exp (-pi ^ 2 * t) * u;
printf ('after t = %.3f the middle is at %.4f, and should be at %.4f\n', t, v(50), exact(50));
assert (v, exact, 1e-4);

% So many sweeps have the bits of so many calls.
w = u;
for step = 1:10
  w = StencilConstantMemory_CUDA (w, [lambda, 1 - 2 * lambda, lambda], 'Backend', 'cpu');
end
assert (isequal (w, StencilConstantMemory_CUDA (u, [lambda, 1 - 2 * lambda, lambda], 'Iterations', 10, ...
                                                'Backend', 'cpu')));
