## -*- texinfo -*-
## @deftypefn {} {@var{testCase} =} test_case ()
## Replaces MATLAB's matlab.unittest.TestCase, with the methods that the toolbox's tests use.
## @end deftypefn

function testCase = test_case ()
  testCase.verifyEqual = @verify_equal;
  testCase.verifyTrue = @(value) assert (islogical (value) && isscalar (value) && value);
  testCase.verifyError = @verify_error;
  testCase.assumeTrue = @assume;
endfunction

function verify_equal (actual, expected, what, tolerance)
  assert (class (actual), class (expected));
  if (nargin == 2)
    assert (isequaln (actual, expected), "expected %s, got %s", disp (expected), disp (actual));
  else
    assert (what, "AbsTol");
    assert (actual, expected, tolerance);
  endif
endfunction

function verify_error (call, identifier)
  caught = "";
  try
    call ();
  catch failure
    caught = failure.identifier;
  end_try_catch
  assert (strcmp (caught, identifier), "expected %s, got %s", identifier, caught);
endfunction

function assume (value, why)
  if (! value)
    error ("test_case:skipped", "%s", why);
  endif
endfunction
