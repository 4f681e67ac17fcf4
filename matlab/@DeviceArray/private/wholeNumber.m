function value = wholeNumber (name, value, least)
%wholeNumber  Checks a whole number from LEAST, as a double; NAME is what an
%             error calls it.

  if ~(isnumeric (value) && ~isa (value, 'DeviceArray') && isreal (value) && isscalar (value) && value >= least && ...
       value == fix (value) && value < 2^53)
    badOption (sprintf ('Bad value for %s: got %s, expected a whole number from %d.', name, toldValue (value), least));
  end
  value = double (value);
end
