## -*- texinfo -*-
## @deftypefn {} {@var{failed} =} fuzz (@var{seed}, @var{seconds}, @var{calls}, @var{folder})
## Calls the five functions at random until @var{seconds} have passed or
## @var{calls} calls were made, and looks at every result.  @code{tests/fuzz}
## starts it, with the engine in STENCIL_BACKEND; @var{folder} is where it writes
## the number of the running call and, at the first failure, which ends it, a script that repeats the call.
## @end deftypefn

function failed = fuzz (seed, seconds, calls, folder)
  world = fuzz_world ();
  warning ("off", "all");
  progress = fopen (fullfile (folder, "number"), "w");
  kinds = struct ();
  failed = 0;
  number = 0;
  start = tic ();
  while (number < calls && toc (start) < seconds && failed == 0)
    number++;
    frewind (progress);
    fprintf (progress, "%d\n", number);
    fflush (progress);
    try
      p = fuzz_plan (seed, number, world);
    catch err
      ## A fault of the fuzzer's, which is to be seen as one.
      p = [];
      why = sprintf ("the call could not be made up: %s (%s)", err.message, err.stack(1).name);
    end_try_catch
    if (! isempty (p))
      [why, p] = tried (p, world);
      if (! isfield (kinds, p.kind))
        kinds.(p.kind) = 0;
      endif
      kinds.(p.kind)++;
    endif
    if (! isempty (why))
      failed++;
      printf ("FAILED: seed %d, call %d: %s\n", seed, number, why);
      if (! isempty (p))
        ## Made up again: its data may have been written to.
        q = fuzz_plan (seed, number, world);
        if (isfield (p, "want"))
          [q.want, q.at, q.older] = deal (p.want, p.at, p.older);
        endif
        fuzz_snippet (q, folder, why);
      endif
    endif
  endwhile
  fclose (progress);
  for name = sort (fieldnames (kinds)).'
    printf ("  %6d  %s\n", kinds.(name{1}), strrep (name{1}, "__", ": "));
  endfor
  printf ("@counts %d %d\n", number, failed);
endfunction

## What is wrong with the result of the call, "" where nothing is; and the call with what the result must be.
function [why, p] = tried (p, world)
  for i = 1:rows (p.env)
    setenv (p.env{i,:});
  endfor
  if (! isempty (p.wipe))
    wipe (p.wipe);
  endif
  before = prints (p);
  [y, z, id, message] = done (p.v, p.a, p.statement);
  why = "";
  if (any (prints (p) != before))
    why = "an input was written to";
    return;
  endif
  due = "";
  if (! isempty (p.id))
    due = [strrep(p.name, "_CUDA", ""), ":", p.id];
  endif
  if (! (strcmp (id, due) || isempty (id) && isempty (due)))
    why = sprintf ("<%s> where <%s> is due: %s", id, due, message);
  elseif (isempty (id))
    switch (p.name)
      case "ConstantMemoryDevice_CUDA"
        why = of_device (y, p, world);
      case "ConstantMemoryStudy_CUDA"
        why = of_study (y);
      otherwise
        try
          [p.want, p.at, p.older] = fuzz_result (p.name, p.a, p.options);
        catch err
          why = sprintf ("the reference failed: %s", err.message);
        end_try_catch
        held = [isa(y, "DeviceArray"), isa(z, "DeviceArray")];
        [y, z] = deal (fuzz_gathered (y), fuzz_gathered (z));
        if (isempty (why))
          if (any (held != isa (p.a{1}, "DeviceArray") & [true, p.nout == 2]))
            why = "the result lies in the wrong place";
          elseif (! isequal (size (y), p.size))
            why = sprintf ("size %s instead of %s", mat2str (size (y)), mat2str (p.size));
          else
            if (! ischar (p.at))
              y = y(:)(p.at);
            endif
            if (isfield (p.options, "Every"))
              p.want = reshape (p.want, p.size);
            endif
            if (iscomplex (p.want))
              ## Without imaginary parts Octave has made it real.
              same_sign = iscomplex (y) || any (imag (p.want)(:) != 0);
              [y, p.want] = deal ([real(y)(:); imag(y)(:)], [real(p.want)(:); imag(p.want)(:)]);
              if (! same_sign)
                p.want(end/2+1:end) = 0;
              endif
            endif
            [~, why] = same_bits (y, p.want);
          endif
          if (isempty (why) && p.nout == 2)
            [~, why] = same_bits (z, p.older);
            if (! isempty (why))
              why = ["the older level: " why];
            endif
          endif
        endif
    endswitch
  endif
endfunction

## The call in a scope of its own, which holds nothing else.
function [y, z, id, message] = done (v, a, statement)
  y = z = "no result";
  id = message = "";
  try
    eval (statement);
  catch err
    id = err.identifier;
    message = err.message;
    if (isempty (id))
      id = "none";
    endif
  end_try_catch
endfunction

## In a scope of its own, since it clears that too.
function wipe (what)
  switch (what)
    case "-all"
      clear all
    case "-functions"
      clear functions
    otherwise
      clear (what);
  endswitch
endfunction

## The bits of all numbers, in an array that nobody else holds.
function bits = prints (p)
  values = [struct2cell(p.v).', p.a];
  bits = cell (1, numel (values));
  for i = 1:numel (values)
    if (isa (values{i}, "DeviceArray"))
      bits{i} = zeros (0, 1, "uint8");
    elseif (isfloat (values{i}) && iscomplex (values{i}) && ! issparse (values{i}))
      bits{i} = typecast ([real(values{i})(:); imag(values{i})(:)], "uint8")(:);
    elseif ((isfloat (values{i}) || isinteger (values{i})) && isreal (values{i}) && ! issparse (values{i}))
      bits{i} = typecast (full (values{i})(:), "uint8")(:);
    elseif (islogical (values{i}) && ! issparse (values{i}))
      bits{i} = uint8 (values{i}(:));
    else
      bits{i} = zeros (0, 1, "uint8");
    endif
  endfor
  bits = vertcat (bits{:});
endfunction

function why = of_device (y, p, world)
  why = "";
  backend = p.settings.backend;
  if (p.settings.bad)
    backend = "";
  elseif (strcmp (backend, "auto"))
    backend = {"cpu", "cuda"}{1 + (world.devices > 0)};
  elseif (strcmp (backend, "fastest"))
    backend = {"cpu", "fastest"}{1 + (world.devices > 0)};
  endif
  if (! isstruct (y) || ! isfield (y, "Backend") || ! strcmp (y.Backend, backend))
    why = sprintf ("Backend is not \"%s\"", backend);
  elseif (p.settings.bad && ! isnan (y.DeviceBytes) || ! p.settings.bad && y.DeviceBytes != p.settings.bytes)
    why = sprintf ("DeviceBytes is %g", y.DeviceBytes);
  elseif (! p.settings.bad && y.Threads != min (p.settings.threads, world.threads))
    why = sprintf ("Threads is %g", y.Threads);
  endif
endfunction

function why = of_study (y)
  why = "";
  if (! isstruct (y) || columns (y) != 1 || isempty (y) || any ([y.Checked] != [y.Elements]) ...
      || any (cellfun (@numel, {y.Samples}) != 20))
    why = "not a study's results";
  endif
endfunction
