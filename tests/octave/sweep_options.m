## -*- texinfo -*-
## @deftypefn {} {@var{o} =} sweep_options (@var{options})
## What the references need of a cell array of options: a struct with the fields
## Boundary (0), Dim ([], the first dimension that is not 1), Iterations (1) and
## Shape ("same"); and reach, how many radii of ghost values the outputs meet on
## either side.
## Other options do not change the result.  Names are written out here.
## @end deftypefn

function o = sweep_options (options)
  o = struct ("Boundary", 0, "Dim", [], "Iterations", 1, "Shape", "same");
  for i = 1:2:numel (options) - 1
    if (isfield (o, options{i}))
      o.(options{i}) = options{i+1};
    endif
  endfor
  if (o.Iterations == 0)
    o.Shape = "same";
  endif
  o.reach = struct ("same", 1, "full", 2, "valid", 0).(lower (o.Shape));
endfunction
