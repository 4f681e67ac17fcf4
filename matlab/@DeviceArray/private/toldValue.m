function text = toldValue (value)
%toldValue  A value as errors tell it: a number as it is, else size and class.

  if (isnumeric (value) || islogical (value)) && ~isa (value, 'DeviceArray') && isscalar (value)
    text = num2str (value);
  elseif ischar (value) && size (value, 1) == 1
    text = ['''' value ''''];
  else
    text = [sizeText(size (value)) ' ' class(value)];
  end
end
