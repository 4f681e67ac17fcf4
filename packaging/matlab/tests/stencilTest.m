function tests = stencilTest ()
%stencilTest  Unit tests of the stencil, the derivative and the convolution: runtests ('tests').
  tests = functiontests (localfunctions ());
end

function testStencil (testCase)
  outputArray = StencilConstantMemory_CUDA (ones (1, 20), ones (1, 11), 'Backend', 'cpu');
  testCase.verifyEqual (outputArray, [6:10, 11 * ones(1, 10), 10:-1:6]);
end

function testDerivative (testCase)
  derivative = DerivativeConstantMemory_CUDA (single (1:20), 0.5, 'Backend', 'cpu');
  testCase.verifyEqual (derivative(5:16), 2 * ones (1, 12, 'single'), 'AbsTol', single (1e-5));
end

function testConvolution (testCase)
  image = magic (6);
  filter = [1 2 3; 4 5 6; 7 8 9];
  P = ConvolutionConstantMemory_CUDA (image, filter, 'Backend', 'cpu');
  testCase.verifyEqual (P, conv2 (image, rot90 (filter, 2), 'same'));
end

function testBoundary (testCase)
  last = StencilConstantMemory_CUDA (1:4, [0 0 1], 'Boundary', 'circular', 'Backend', 'cpu');
  testCase.verifyEqual (last, [2 3 4 1]);
end

function testIterations (testCase)
  taps = [0.25 0.5 0.25];
  step = StencilConstantMemory_CUDA (1:9, taps, 'Backend', 'cpu');
  testCase.verifyEqual (StencilConstantMemory_CUDA (1:9, taps, 'Iterations', 2, 'Backend', 'cpu'), ...
                        StencilConstantMemory_CUDA (step, taps, 'Backend', 'cpu'));
end

function testEnginesAgree (testCase)
  device = ConstantMemoryDevice_CUDA ();
  testCase.assumeTrue (device.DeviceSupported, 'There is no GPU here');
  x = sin (1:1e5);
  taps = cos (1:21);
  testCase.verifyEqual (StencilConstantMemory_CUDA (x, taps, 'Backend', 'cuda'), ...
                        StencilConstantMemory_CUDA (x, taps, 'Backend', 'cpu'));
end

function testErrors (testCase)
  testCase.verifyError (@() StencilConstantMemory_CUDA (1), 'StencilConstantMemory:numberOfInputs');
  testCase.verifyError (@() StencilConstantMemory_CUDA (1:9, []), 'StencilConstantMemory:kernelLength');
  testCase.verifyError (@() DerivativeConstantMemory_CUDA (1:9, 0), 'DerivativeConstantMemory:spacing');
  testCase.verifyError (@() ConvolutionConstantMemory_CUDA (1:9, []), 'ConvolutionConstantMemory:filterSize');
  testCase.verifyError (@() ConstantMemoryStudy_CUDA ('none'), 'ConstantMemoryStudy:study');
end
