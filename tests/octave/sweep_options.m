## -*- texinfo -*-
## @deftypefn {} {@var{o} =} sweep_options (@var{options})
## Parses a cell array of options for the references: a struct with the fields Boundary (0), Dim ([], the first
## dimension that is not 1), Iterations (1) and Shape ("same"); and around, a function that returns the numbers of ghost
## values that the outputs need ahead of the samples and behind them, for filters of the given numbers of entries. Other
## options do not change the result.  Names are written out here.
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
  switch (lower (o.Shape))
    case "same"
      ## An even filter has one entry fewer ahead of the middle, as for
      ## imfilter.
      o.around = @(entries) deal (floor ((entries - 1) / 2), floor (entries / 2));
    case "full"
      o.around = @(entries) deal (entries - 1, entries - 1);
    case "valid"
      o.around = @(entries) deal (0 * entries, 0 * entries);
  endswitch
endfunction
