## -*- texinfo -*-
## @deftypefn {} {@var{tests} =} functiontests (@var{handles})
## Stands for MATLAB's function of this name, which makes tests of a file's local functions: those whose names begin
## with test.
## @end deftypefn

function tests = functiontests (handles)
  names = cellfun (@func2str, handles, "UniformOutput", false);
  tests = handles(! cellfun (@isempty, regexp (names, '^@?test', "once")));
endfunction
