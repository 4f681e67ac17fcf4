function [f, number, asked] = compiledStep (f)
%compiledStep  The function that a compiled step was made of, its number and its
%              options; of any other function itself, without a number.

  number = [];
  asked = [];
  if isa (f, 'function_handle') && ~isempty (regexp (func2str (f), 'DeviceArray(\.runStep|_CUDA \(.step.)', 'once'))
    known = functions (f);
    known = known.workspace{1};
    if isfield (known, 'run')
      known = functions (known.run);
      known = known.workspace{1};
    end
    f = known.f;
    number = known.number;
    asked = known.asked;
  end
end
