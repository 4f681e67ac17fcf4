function display (u) %#ok<DISPLAY>
%display  What a statement without a semicolon shows.
%
%   display (U)
%
%   The name, then what DISP shows.
%
%   Example
%     u = DeviceArray (1:3)
%
%   See also DeviceArray, disp.

  name = inputname (1);
  if isempty (name)
    name = 'ans';
  end
  fprintf ('%s =\n\n', name);
  disp (u);
  fprintf ('\n');
end
