## -*- texinfo -*-
## @deftypefn {} {@var{y} =} over_lines (@var{x}, @var{entries}, @var{chain}, @var{options})
## Runs @code{chain (padded, n)} over the lines of @var{x}, along its first dimension that is not 1 unless the cell
## array @var{options} has a Dim.  Each column of @var{padded} is a line with the samples that @var{n} outputs need
## under a filter of @var{entries} entries, zeros outside unless there is a Boundary.  Repeats that Iterations times,
## each over the last result.  The result has the class of @var{x}, and its size unless there is a Shape.
## @end deftypefn

function y = over_lines (x, entries, chain, options = {})
  if (iscomplex (x))
    ## Each part by itself.
    y = complex (over_lines (real (x), entries, chain, options), over_lines (imag (x), entries, chain, real_sides (options)));
    if (! any (imag (y)(:) != 0))
      y = real (y);                     # Octave makes it so
    endif
    return;
  endif
  o = sweep_options (options);
  y = full (x);
  dims = size (x);
  along = o.Dim;
  if (isempty (along))
    along = [find(dims != 1, 1), 1](1);
  endif
  if (along > 8)
    along = 8;                        # nobody has that many, and all are 1
  endif
  dims(end+1:along) = 1;

  [ahead, behind] = o.around (entries);
  length = max (dims(along) + ahead + behind - (entries - 1), 0) * (dims(along) > 0);
  if (isempty (x) || length == 0)
    dims(along) = length;
    y = zeros (dims, class (x));
    return;
  endif

  order = [along, 1:along-1, along+1:numel(dims)];
  lines = reshape (permute (y, order), dims(along), []);
  if (iscell (o.Boundary))
    o.Boundary = {o.Boundary};        # a pair, for the ends of the lines
  endif
  for i = 1:o.Iterations
    lines = chain (extended (lines, ahead, o.Boundary, behind), length);
  endfor
  dims(along) = length;
  y = ipermute (reshape (lines, dims(order)), order);
endfunction
