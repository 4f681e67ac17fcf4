## -*- texinfo -*-
## @deftypefn {} {} fuzz_snippet (@var{c}, @var{folder}, @var{why})
## Prints Octave code that makes the call @var{c} of @code{fuzz_call} by itself
## and raises unless it gives the expected result, and writes it to call.m in
## @var{folder}. Arrays of more than some elements, and the results, go to
## call.mat there.
## @end deftypefn

function fuzz_snippet (c, folder, why)
  data = struct ();
  lines = {["% " strrep(why, "\n", " ")], "", ...
           sprintf("addpath (\"%s\", \"%s\");", fileparts (mfilename ("fullpath")), ...
                   fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex"))), ...
           sprintf("setenv (\"STENCIL_BACKEND\", \"%s\");", c.home), "v = struct ();"};
  for name = fieldnames (c.v).'
    code = ["data." name{1}];
    if (numel (c.v.(name{1})) <= 64)
      code = literal (c.v.(name{1}));
    else
      data.(name{1}) = c.v.(name{1});
    endif
    lines{end+1} = sprintf ("v.%s = %s;", name{1}, code);
  endfor
  lines{end+1} = "a = {};";
  for i = 1:numel (c.inputs)
    lines{end+1} = sprintf ("a{%d} = %s;", i, c.inputs{i});
  endfor
  if (c.same)
    lines{end+1} = "a{2} = a{1};";
  endif
  for i = 1:rows (c.env)
    lines{end+1} = sprintf ("setenv (\"%s\", \"%s\");", c.env{i,:});
  endfor
  if (! isempty (c.wipe))
    lines{end+1} = sprintf ("%% after: clear %s", c.wipe);
  endif
  due = "";
  if (! isempty (c.due))
    due = [strrep(c.name, "_CUDA", ""), ":", c.due];
  endif
  lines = [lines, {"before = fuzz_bits ([struct2cell(v).', a]);", "[id, z] = deal (\"\");", "try", ["  " c.statement], ...
                   "catch err", "  id = err.identifier;", "end_try_catch", ...
                   sprintf("if (! strcmp (id, \"%s\")), error (\"<%%s> where <%s> is due\", id), endif", due, due), ...
                   "if (! isequal (fuzz_bits ([struct2cell(v).', a]), before)), error (\"an input was written to\"), endif"}];
  load_it = "load (fullfile (fileparts (mfilename (\"fullpath\")), \"call.mat\"));";
  if (! isempty (fieldnames (data)))
    lines{2} = load_it;
  endif
  if (isempty (due) && any (c.letter == "sdc"))
    try
      data.call = rmfield (fuzz_result (c), {"a", "x", "filters", "options"});
      lines = [lines, {load_it, "why = fuzz_difference (data.call, y, z);", "if (! isempty (why)), error (\"%s\", why), endif"}];
    end_try_catch
  endif
  save ("-binary", fullfile (folder, "call.mat"), "data");
  text = sprintf ("%s\n", lines{:});
  fid = fopen (fullfile (folder, "call.m"), "w");
  fputs (fid, text);
  fclose (fid);
  puts (text);
endfunction
