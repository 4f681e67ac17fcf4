%% Getting started with stencil-mex
% This toolbox was tried in a stand-in for MATLAB only, never in MATLAB itself: please report what does not work.
% Run this script section by section. Without a GPU everything runs on the CPU and gives the same bits.

%% The engine
device = ConstantMemoryDevice_CUDA ();
fprintf ('Backend: %s (%s)\n', device.Backend, device.BackendReason);

%% Smooth a noisy signal with 21 taps
t = linspace (0, 1, 1000);
clean = sin (2 * pi * 3 * t);
noisy = clean + 0.2 * sin (2 * pi * 170 * t);
taps = exp (-0.5 * ((-10:10) / 4) .^ 2);
taps = taps / sum (taps);
smooth = StencilConstantMemory_CUDA (noisy, taps, 'Boundary', 'replicate');
fprintf ('RMS error before: %.3f, after: %.3f\n', ...
         sqrt (mean ((noisy - clean) .^ 2)), sqrt (mean ((smooth - clean) .^ 2)));

%% Differentiate it
slope = DerivativeConstantMemory_CUDA (smooth, t(2) - t(1), 'Boundary', 'replicate');

%% Find the edges of an image
squares = kron (mod ((0:7) + (0:7).', 2), ones (32));
edges = ConvolutionConstantMemory_CUDA (squares, [-1 0 1; -2 0 2; -1 0 1], 'Boundary', 'replicate');
fprintf ('Pixels beside a vertical edge: %d\n', nnz (edges));

%% A thousand steps of the heat equation in one call
rod = zeros (1e4, 1);
rod(5000) = 1;
rod = StencilConstantMemory_CUDA (rod, [0.25 0.5 0.25], 'Iterations', 1000);

%% Arrays that stay on the device
u = DeviceArray (rand (512));
for k = 1:10
  u = ConvolutionConstantMemory_CUDA (u, ones (3) / 9, 'Boundary', 'circular');
end
fprintf ('Mean: %.4f\n', sum (sum (u)) / numel (u));
v = gather (u);

%% Next
% "help StencilConstantMemory_CUDA" tells all options. StencilConstantMemory_Demo draws pictures.
