function dropStep (number)
%dropStep  Gives up a compiled step and what is kept of it.

  keptConstants (number, 'drop');
  forgetStep (number);
end
