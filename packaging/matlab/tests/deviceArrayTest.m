function tests = deviceArrayTest ()
%deviceArrayTest  Unit tests of DeviceArray: runtests ('tests').
  tests = functiontests (localfunctions ());
end

function testRoundTrip (testCase)
  x = magic (5);
  testCase.verifyEqual (gather (DeviceArray (x, 'Backend', 'cpu')), x);
end

function testArithmetic (testCase)
  u = DeviceArray ([1 4 9], 'Backend', 'cpu');
  testCase.verifyEqual (gather (2 * sqrt (u) + 1), [3 5 7]);
  testCase.verifyEqual (sum (u), 14);
  testCase.verifyTrue (all (u > 0));
end

% The array was made by one MEX file and is used by another.
function testFunctionsShareArrays (testCase)
  u = DeviceArray (ones (1, 20), 'Backend', 'cpu');
  v = StencilConstantMemory_CUDA (u, ones (1, 11));
  testCase.verifyEqual (class (v), 'DeviceArray');
  testCase.verifyEqual (gather (v), StencilConstantMemory_CUDA (ones (1, 20), ones (1, 11), 'Backend', 'cpu'));
end

function testErrors (testCase)
  testCase.verifyError (@() gamma (DeviceArray (1, 'Backend', 'cpu')), 'DeviceArray:unsupported');
end
