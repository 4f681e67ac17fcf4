function tooFew (call, count, caught)
%tooFew  The error of a call with fewer inputs than CALL shows. With a count
%        of 2 and an error that was caught, that one.

  if nargin > 2 && count > 1
    rethrow (caught);
  end
  error ('DeviceArray:numberOfInputs', 'Number of Inputs are Wrong: too few were given, and expected is %s.', call);
end
