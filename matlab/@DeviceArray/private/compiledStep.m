function [f, number, asked] = compiledStep (f)
%compiledStep  The function that a compiled step was made of, its number and its
%              options; of any other function itself, without a number.

  number = [];
  asked = [];
  if isa (f, 'function_handle') && ~isempty (strfind (func2str (f), 'DeviceArray.runStep')) %#ok<STREMP>
    known = functions (f);
    known = known.workspace{1};
    f = known.f;
    number = known.number;
    asked = known.asked;
  end
end
