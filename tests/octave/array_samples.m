## -*- texinfo -*-
## @deftypefn {} {@var{list} =} array_samples (@var{all_classes})
## Ordinary arrays of sizes and with values that a method may treat differently; with
## @var{all_classes} each of them in each class.
## @end deftypefn

function list = array_samples (all_classes = false)
  x = [3 -1 4; 1 -5 9];
  list = {x, 5, [1 2 3], [1; 2; 3], reshape(1:24, 2, 3, 4), [], zeros(1, 0), zeros(0, 1), zeros(0, 3), zeros(3, 0), ...
          zeros(2, 0, 3), reshape(1:3, 1, 1, 3), reshape(1:6, 1, 2, 3), [1 0 -2; 0 3.5 200]};
  if (all_classes)
    list = cellfun (@(c) cellfun (c, list, "UniformOutput", false), array_classes (), "UniformOutput", false);
    list = [list{:}];
  else
    list = [list, {single(x), x > 0, int8(x), [1 NaN -Inf; Inf 0 -0]}];
  endif
endfunction
