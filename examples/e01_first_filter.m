% A first filter: the mean of five neighbours takes the noise out of a signal.
%
% Filters are not flipped: they are correlations. Samples outside the signal are zero, unless 'Boundary' says otherwise
% (e02_boundaries). Where there is no GPU the processor computes, with the same bits; 'cpu' asks for that without a warning.

t = (0:999)' / 100;
signal = sin (t);
noisy = signal + 0.3 * cos (1234.5 * (1:1000)' .^ 2);   % the same "noise" in every run

taps = ones (1, 5) / 5;
smooth = StencilConstantMemory_CUDA (noisy, taps, 'Backend', 'cpu');

inside = 3:998;
before = sqrt (mean ((noisy(inside) - signal(inside)) .^ 2));
after = sqrt (mean ((smooth(inside) - signal(inside)) .^ 2));
printf ('error before %.3f, after %.3f\n', before, after);
assert (after < before / 2);

% To rounding it is what conv gives with the taps turned round.
assert (smooth, conv (noisy, flip (taps), 'same'), 1e-14);
