function tooFew (call)
%tooFew  The error of a call with fewer inputs than CALL shows.

  error ('DeviceArray:numberOfInputs', 'Number of Inputs are Wrong: too few were given, and expected are %s.', call);
end
