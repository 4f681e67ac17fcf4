## -*- texinfo -*-
## @deftypefn {} {@var{y} =} over_lines (@var{x}, @var{r}, @var{chain}, @var{options})
## Runs @code{chain (padded, n)} over the lines of @var{x}, along its first
## dimension that is not 1 unless the cell array @var{options} has a Dim.  Each
## column of @var{padded} is a line of @var{n} samples with @var{r} more above it
## and below, zeros unless there is a Boundary; as often as Iterations says, each
## time over what the last time gave.  The result has the class of @var{x}, and its
## size unless there is a Shape.
## @end deftypefn

function y = over_lines (x, r, chain, options = {})
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

  length = max (dims(along) + 2 * (o.reach - 1) * r, 0) * (dims(along) > 0);
  if (isempty (x) || length == 0)
    dims(along) = length;
    y = zeros (dims, class (x));
    return;
  endif

  order = [along, 1:along-1, along+1:numel(dims)];
  n = dims(along);
  lines = reshape (permute (y, order), n, []);
  for i = 1:o.Iterations
    lines = chain (extended (lines, o.reach * r, o.Boundary), length);
  endfor
  dims(along) = length;
  y = ipermute (reshape (lines, dims(order)), order);
endfunction
