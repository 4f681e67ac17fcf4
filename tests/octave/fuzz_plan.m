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
