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
  kinds = {};
  failed = 0;
  number = 0;
  start = tic ();
  while (number < calls && toc (start) < seconds && failed == 0)
    number++;
    frewind (progress);
    fprintf (progress, "%d\n", number);
    fflush (progress);
    c = [];
    try
      c = fuzz_call (seed, number, world);
      why = tried (c, world);
      kinds{end+1} = c.kind;
    catch err
      ## A fault of the fuzzer's, which is to be seen as one.
      why = sprintf ("the fuzzer failed: %s (%s)", err.message, err.stack(1).name);
    end_try_catch
    if (! isempty (why))
      failed++;
      printf ("FAILED: seed %d, call %d: %s\n", seed, number, why);
      if (! isempty (c))
        ## Made up again: its data may have been written to.
        fuzz_snippet (fuzz_call (seed, number, world), folder, why);
      endif
    endif
  endwhile
  fclose (progress);
  for kind = unique (kinds)
    printf ("  %6d  %s\n", nnz (strcmp (kinds, kind{1})), kind{1});
  endfor
  printf ("@counts %d %d\n", number, failed);
endfunction

## The fault of the call, "" if there is none.
function why = tried (c, world)
  for i = 1:rows (c.env)
    setenv (c.env{i,:});
  endfor
  if (! isempty (c.wipe))
    wipe (c.wipe);
  endif
  values = [struct2cell(c.v).', c.a];
  before = fuzz_bits (values);
  [y, z, id, message] = done (c.v, c.a, c.statement);
  due = "";
  if (! isempty (c.due))
    due = [strrep(c.name, "_CUDA", ""), ":", c.due];
  endif
  why = "";
  if (! isequal (fuzz_bits (values), before))
    why = "an input was written to";
  elseif (! strcmp (id, due))
    why = sprintf ("<%s> where <%s> is due: %s", id, due, message);
  elseif (! isempty (id))
    return;
  elseif (c.letter == "i")
    why = of_device (y, c.settings, world);
  elseif (c.letter == "y")
    if (! isstruct (y) || columns (y) != 1 || isempty (y) || any ([y.Checked] != [y.Elements]) ...
        || any (cellfun (@numel, {y.Samples}) != 20))
      why = "not a study's results";
    endif
  elseif (isa (y, "DeviceArray") != c.held || c.nout == 2 && isa (z, "DeviceArray") != c.held)
    why = "the result lies in the wrong place";
  else
    why = fuzz_difference (fuzz_result (c), y, z);
  endif
endfunction

## Makes the call in its own scope, which holds nothing else.
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

## In its own scope, since it clears that too.
function wipe (names)
  switch (names)
    case "-all"
      clear all
    case "-functions"
      clear functions
    otherwise
      clear (names);
  endswitch
endfunction

function why = of_device (y, settings, world)
  backend = settings.backend;
  if (settings.bad)
    backend = "";
  elseif (strcmp (backend, "auto"))
    backend = {"cpu", "cuda"}{1 + (world.devices > 0)};
  elseif (strcmp (backend, "fastest"))
    backend = {"cpu", "fastest"}{1 + (world.devices > 0)};
  endif
  why = "";
  if (! isstruct (y) || ! isfield (y, "Backend") || ! strcmp (y.Backend, backend))
    why = sprintf ("Backend is not \"%s\"", backend);
  elseif (settings.bad && ! isnan (y.DeviceBytes) || ! settings.bad && y.DeviceBytes != settings.bytes)
    why = sprintf ("DeviceBytes is %g", y.DeviceBytes);
  elseif (! settings.bad && y.Threads != min (settings.threads, world.threads))
    why = sprintf ("Threads is %g", y.Threads);
  endif
endfunction
