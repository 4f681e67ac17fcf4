## -*- texinfo -*-
## @deftypefn {} {@var{p} =} fuzz_plan (@var{seed}, @var{number}, @var{world})
## The call of that number, as @code{fuzz_call} makes it up, with its inputs
## evaluated (a, a cell array), the identifier that is due (id), the options as they will be
## understood, the size of the result, and a word for the count.
## A call that would compute for long is passed over for the next one that is made up.
## @end deftypefn

function p = fuzz_plan (seed, number, world)
  attempt = 0;
  ## Inputs are made, and looked at, in an environment that makes sense.
  for variable = {"STENCIL_BACKEND", "STENCIL_THREADS", "STENCIL_DEVICE_BYTES"; world.backend, "", ""}
    setenv (variable{:});
  endfor
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
      p.size = size (fuzz_gathered (p.a{1}));
      if (isempty (p.id) && isfield (p.options, "Shape"))
        p.size = shaped (p);
      endif
      if (isempty (p.id) && isfield (p.options, "Every"))
        p.size = with_states (p.size, p.options);
      endif
      if (isfield (p.options, "Iterations"))
        filters = p.a{2};
        if (! iscell (filters))
          filters = {filters};
        endif
        taps = sum (cellfun (@numel, filters(:)));
        sweeps = double (p.options.Iterations);
        samples = fuzz_gathered (p.a{1});
        elements = numel (samples);
        work = elements * taps * sweeps;
        ## Of integers an engine computes what lies around, too, which of a single row by three rows is three times as much.
        if (! isfloat (samples))
          with_halo = @(filter) prod (postpad (size (samples), 9, 1) + postpad (size (filter), 9, 1) - 1);
          work = sum (cellfun (@(filter) with_halo (filter) * numel (filter), filters(:))) * sweeps;
        endif
        ## A GPU does an image by tiles, however few elements it has, and the stand-in does each of a tile.
        if (strcmp (world.backend, "cuda") && strcmp (p.name, "ConvolutionConstantMemory_CUDA") && elements > 0)
          dims = size (samples);
          dims(1:2) = max (dims(1:2), 32);
          work = max (work, prod (dims) * (taps + 10) * sweeps / 10);
        endif
        ## Each sweep is a call of its own to the reference, states take memory, and the reference rounds what it makes of
        ## two levels in software: some 3e5 a second.
        of_levels = isfield (p.options, "Previous") * elements * sweeps;
        if (isempty (p.id) && in_parts (p) && elements > 0 && (sweeps > 200 || prod (p.size) > 1e6 || of_levels > 1e6))
          work = Inf;
        endif
      endif
    endif
    if (strcmp (p.name, "ConstantMemoryStudy_CUDA"))
      work = studied (p.options);
    endif
  until (! isempty (p.id) || work < 2e8)

  held = numel (p.a) > 0 && isa (p.a{1}, "DeviceArray");
  short = lower (strtok (strrep (p.name, "ConstantMemory", ""), "_"));
  if (! isempty (p.id))
    p.kind = [short "__" p.id];
  elseif (isfield (p.options, "Previous"))
    p.kind = [short "__levels"];
  elseif (in_parts (p))
    p.kind = [short {"__states", "__list"}{1 + iscell(p.a{2})}];
  elseif (isfield (p.options, "Iterations") && double (p.options.Iterations) > 1)
    p.kind = [short "__sweeps"];
  else
    p.kind = [short "__good"];
  endif
  if (isempty (p.id) && numel (p.a) > 0 && iscomplex (p.a{1}))
    p.kind = [p.kind "_complex"];
  endif
  if (held && isempty (p.id))
    p.kind = [p.kind "_held"];
  endif
endfunction

## Whether a sweep is more than one filter, or states are told on the way.
function yes = in_parts (p)
  yes = numel (p.a) > 1 && iscell (p.a{2}) || any (isfield (p.options, {"Previous", "Source", "Every"}));
endfunction

## The size with the states on the way behind, those of a column along the second dimension.
function dims = with_states (dims, o)
  sweeps = 1;
  if (isfield (o, "Iterations"))
    sweeps = double (o.Iterations);
  endif
  if (numel (dims) == 2 && dims(2) == 1)
    dims(2) = [];
  endif
  dims(end+1) = sweeps / double (o.Every);
  while (numel (dims) > 2 && dims(end) == 1)
    dims(end) = [];
  endwhile
endfunction

## The size of the result with a Shape.
function dims = shaped (p)
  dims = size (fuzz_gathered (p.a{1}));
  o = p.options;
  if (strcmpi (o.Shape, "same") || isfield (o, "Iterations") && o.Iterations == 0)
    return;
  endif
  if (iscell (p.a{2}))
    p.a{2} = p.a{2}{1};
  endif
  others = zeros (size (dims));
  if (strcmp (p.name, "StencilConstantMemory_CUDA"))
    along = [find(dims != 1, 1), 1](1);
    if (isfield (o, "Dim"))
      along = double (o.Dim);
    endif
    others(along) = numel (p.a{2}) - 1;
  else
    others(1:ndims (p.a{2})) = size (p.a{2}) - 1;
  endif
  dims(end+1:numel (others)) = 1;
  others(end+1:numel (dims)) = 0;
  dims = max (dims + struct ("same", 0, "full", 1, "valid", -1).(lower (o.Shape)) * others, 0) .* (dims > 0);
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
