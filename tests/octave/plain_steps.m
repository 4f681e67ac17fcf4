## -*- texinfo -*-
## @deftypefn {} {[@var{states}, @var{recorded}, @var{steps}] =} plain_steps (@var{f}, @var{n}, @var{states}, @var{others}, @var{asked})
## The loop that @code{DeviceArray.iterate} stands for, a step after another.  @var{states} and @var{others} are cell arrays
## of what goes to @var{f}; states that are ordinary arrays become DeviceArrays.  @var{asked} may have the fields
## @qcode{Values}, @qcode{Record}, @qcode{Until} and @qcode{Check}.  @var{states} comes back as ordinary arrays.
## @qcode{Values} is a matrix with a column a step, or a cell of arrays with a page a step.
## @end deftypefn

function [states, recorded, steps] = plain_steps (f, n, states, others = {}, asked = struct ())
  states = cellfun (@DeviceArray, states, "UniformOutput", false);
  recorded = [];
  for steps = 1:n
    values = {};
    if (isfield (asked, "Values") && iscell (asked.Values))
      values = cellfun (@(v) page_of (v, steps), asked.Values, "UniformOutput", false);
    elseif (isfield (asked, "Values"))
      values = num2cell (asked.Values(:,steps))';
    endif
    [states{:}] = f (states{:}, values{:}, others{:});
    if (isfield (asked, "Record"))
      recorded(:,end+1) = gather (asked.Record (states{:}))(:);
    endif
    if (isfield (asked, "Until") && mod (steps, asked.Check) == 0 && asked.Until (states{:}))
      break
    endif
  endfor
  states = cellfun (@gather, states, "UniformOutput", false);
endfunction

function page = page_of (v, step)
  index = repmat ({":"}, 1, ndims (v));
  index{end} = step;
  page = DeviceArray (v(index{:}));
endfunction
