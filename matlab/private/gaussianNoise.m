function z = gaussianNoise (n)
%gaussianNoise  A row of N normal deviates, the same in every host and release.
%
%   The hosts' own generators are not that. This is a Lehmer generator, exact in
%   doubles, and the Box-Muller transform.

  u = zeros (2, n);
  state = 20;
  for k = 1:2 * n
    state = mod (16807 * state, 2147483647);
    u(k) = state / 2147483647;
  end
  z = sqrt (-2 * log (u(1,:))) .* cos (2 * pi * u(2,:));
end
