## -*- texinfo -*-
## @deftypefn {} {@var{options} =} real_sides (@var{options})
## A cell array of options as they hold for the imaginary parts of complex arrays: a
## number as the boundary is a real one, so that 0 surrounds them.
## @end deftypefn

function options = real_sides (options)
  for i = 1:2:numel (options) - 1
    if (strcmp (options{i}, "Boundary"))
      options{i+1} = without_numbers (options{i+1});
    endif
  endfor
endfunction

function boundary = without_numbers (boundary)
  if (iscell (boundary))
    boundary = cellfun (@without_numbers, boundary, "UniformOutput", false);
  elseif (! ischar (boundary))
    boundary = 0;
  endif
endfunction
