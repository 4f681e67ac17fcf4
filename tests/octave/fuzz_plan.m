## -*- texinfo -*-
## @deftypefn {} {@var{p} =} fuzz_plan (@var{seed}, @var{number}, @var{world})
## The call of that number, as @code{fuzz_call} makes it up, with its inputs
## evaluated (a, a cell array), the identifier that is due (id), the options as they will be
## understood, the size of the result, and a word for the count.
## A call that would compute for long is passed over for the next one that is made up.
## @end deftypefn

function p = fuzz_plan (seed, number, world)
  attempt = 0;
  do
    p = fuzz_call (seed, number, attempt++, world);
    p.a = evaluated (p.v, p.inputs);
    if (p.same)
      p.a{2} = p.a{1};
    endif
    [p.id, p.options] = fuzz_identifier (p.name, p.a, p.nout, p.settings, world);
    p.size = [];
    work = 0;
    if (numel (p.a) > 0)
      p.size = size (p.a{1});
      if (isempty (p.id) && isfield (p.options, "Shape"))
        p.size = shaped (p);
      endif
      if (isfield (p.options, "Iterations"))
        work = numel (p.a{1}) * numel (p.a{2}) * double (p.options.Iterations);
      endif
    endif
    if (strcmp (p.name, "ConstantMemoryStudy_CUDA"))
      work = studied (p.options);
    endif
  until (! isempty (p.id) || work < 2e8)

  short = lower (strtok (strrep (p.name, "ConstantMemory", ""), "_"));
  if (! isempty (p.id))
    p.kind = [short "__" p.id];
  elseif (isfield (p.options, "Iterations") && double (p.options.Iterations) > 1)
    p.kind = [short "__sweeps"];
  else
    p.kind = [short "__good"];
  endif
endfunction

## The size of the result with a Shape.
function dims = shaped (p)
  dims = size (p.a{1});
  o = p.options;
  if (strcmpi (o.Shape, "same") || isfield (o, "Iterations") && o.Iterations == 0)
    return;
  endif
  radius = zeros (size (dims));
  if (strcmp (p.name, "StencilConstantMemory_CUDA"))
    along = [find(dims != 1, 1), 1](1);
    if (isfield (o, "Dim"))
      along = double (o.Dim);
    endif
    radius(along) = (numel (p.a{2}) - 1) / 2;
  else
    radius(1:ndims (p.a{2})) = (size (p.a{2}) - 1) / 2;
  endif
  dims(end+1:numel (radius)) = 1;
  radius(end+1:numel (dims)) = 0;
  dims = max (dims + 2 * struct ("same", 0, "full", 1, "valid", -1).(lower (o.Shape)) * radius, 0) .* (dims > 0);
  while (numel (dims) > 2 && dims(end) == 1)
    dims(end) = [];
  endwhile
endfunction

## What a study of these options is reckoned with: without a size it takes seconds.
function work = studied (options)
  work = Inf;
  for size_of = {"Sums", "Points", "Threads", "Size"}
    if (isfield (options, size_of{1}))
      work = 2e4 * double (options.(size_of{1}));
    endif
  endfor
endfunction

function a = evaluated (v, inputs)
  a = {};
  if (! isempty (inputs))
    ## In parentheses, since a space parts elements there.
    a = eval (["{(" strjoin(inputs, "), (") ")}"]);
  endif
endfunction
