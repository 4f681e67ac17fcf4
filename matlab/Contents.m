% stencil-mex: stencils and convolutions on NVIDIA GPUs, and on the CPU
%
% Steps of a solver, compiled: what makes them fast
%   DeviceArray.iterate            - N steps in one call, as few kernels.
%   DeviceArray.compile            - One step as few kernels: a function.
%
% Stencils and convolutions
%   StencilConstantMemory_CUDA     - Filter along one dimension of an array.
%   DerivativeConstantMemory_CUDA  - First derivative from nine points.
%   ConvolutionConstantMemory_CUDA - Filter over an image or a volume.
%
% Arrays that stay on the GPU
%   DeviceArray                    - Array that stays on the GPU between calls.
%   DeviceArray_CUDA               - Internal: what the class DeviceArray calls.
%
% The GPU and its constant memory
%   ConstantMemoryDevice_CUDA      - The GPU, the driver and this library.
%   ConstantMemoryStudy_CUDA       - Measures when constant memory pays.
%
% Demos: each writes or shows pictures
%   StencilConstantMemory_Demo     - Two worked examples of the stencil.
%   DerivativeConstantMemory_Demo  - Derivative of a sine, clean and noisy.
%   ConvolutionConstantMemory_Demo - An image, blurred, and its edges.
%   HeatEquation_Demo              - The heat equation, by sweeps of three taps.
%   Advection_Demo                 - A pulse carried round a ring.
%   StandingWaves_Demo             - Waves on two strings and a membrane.
%   Diffusion_Demo                 - Heat between walls of all kinds.
%   GrayScott_Demo                 - Two substances that react and spread.
%   WaveEquation_Demo              - Waves through two slits; the energy stays.
%   GameOfLife_Demo                - Conway's Game of Life on a DeviceArray.
%   AcousticWave_Demo              - Sound in two layers, with receivers.
%   ConjugateGradients_Demo        - Poisson's equation by conjugate gradients.
%   ConstantMemoryStudy_Demo       - Tables and a figure of all studies.
%
% Setting up
%   compile_mex                    - Builds the MEX functions.
%
% Begin with
%     y = StencilConstantMemory_CUDA (ones (1, 20), ones (1, 11))
%     StencilConstantMemory_Demo
%
% "help NAME" tells all about a function; in Octave "demo NAME" draws an
% example. This page is "help Contents", and "help" with the end of this
% folder's path, such as "help stencil-mex/matlab".
