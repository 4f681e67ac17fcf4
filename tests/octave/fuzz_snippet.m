## -*- texinfo -*-
## @deftypefn {} {} fuzz_snippet (@var{p}, @var{folder}, @var{why})
## Prints Octave code that makes the call @var{p} of @code{fuzz_plan} by itself and
## raises unless it does what it must, and writes it to call.m in @var{folder}.
## Arrays of more than some elements go to call.mat beside it.  What the result
## must be is told where @var{p} has it, as want at the places at.
## @end deftypefn

function fuzz_snippet (p, folder, why)
  data = struct ();
  lines = {["% " strrep(why, "\n", " ")]};
  lines{end+1} = sprintf ("addpath (\"%s\");", fileparts (file_in_loadpath ("StencilConstantMemory_CUDA.mex")));
  ## Inputs are made in an environment that makes sense.
  lines{end+1} = sprintf ("setenv (\"STENCIL_BACKEND\", \"%s\");", p.home);
  lines{end+1} = "v = struct ();";
  for name = fieldnames (p.v).'
    [code, data] = literal (p.v.(name{1}), name{1}, data);
    lines{end+1} = sprintf ("v.%s = %s;", name{1}, code);
  endfor
  lines{end+1} = "a = {};";
  for i = 1:numel (p.inputs)
    lines{end+1} = sprintf ("a{%d} = %s;", i, p.inputs{i});
  endfor
  if (p.same)
    lines{end+1} = "a{2} = a{1};";
  endif
  for i = 1:rows (p.env)
    lines{end+1} = sprintf ("setenv (\"%s\", \"%s\");", p.env{i,:});
  endfor
  if (! isempty (p.wipe))
    lines{end+1} = sprintf ("%% after: clear %s", p.wipe);
  endif
  lines(end+1:end+5) = {
    "plain = @(value) ! isa (value, \"DeviceArray\") && isfloat (value) && ! issparse (value);"
    "both = @(value) [real(full (value))(:); imag(full (value))(:)];"
    "bytes = @(value) typecast (both (value), \"uint8\");"
    "bits = @(list) cellfun (bytes, list(cellfun (plain, list)), \"UniformOutput\", false);"
    "before = bits ([struct2cell(v).', a]);"};
  id = "";
  if (! isempty (p.id))
    id = [strrep(p.name, "_CUDA", ""), ":", p.id];
  endif
  lines(end+1:end+6) = {"id = \"\";", "try", ["  " p.statement], "catch err", "  id = err.identifier;", ...
                        "end_try_catch"};
  lines{end+1} = sprintf ("if (! strcmp (id, \"%s\")), error (\"<%%s> where <%s> is due\", id), endif", id, id);
  lines{end+1} = "if (! isequal (bits ([struct2cell(v).', a]), before)), error (\"an input was written to\"), endif";
  if (isempty (id) && isfield (p, "want"))
    [code, data] = literal (p.want, "want", data);
    lines{end+1} = sprintf ("want = %s;", code);
    [code, data] = literal (p.at, "at", data);
    lines{end+1} = sprintf ("at = %s;", code);
    word = {"uint64", "uint32"}{1 + isa(p.want, "single")};
    lines{end+1} = "if (isa (y, \"DeviceArray\")), y = gather (y); endif";
    lines(end+1:end+4) = {
      sprintf("if (! isa (y, \"%s\") || ! isequal (size (y), %s)), error (\"its class or its size\"), endif", ...
              class (p.want), mat2str (p.size))
      "[got, want] = deal (both (y(:)(at)), both (want));"
      sprintf("off = (typecast (got, \"%s\") != typecast (want(:), \"%s\")) & ! (isnan (got) & isnan (want(:)));", ...
              word, word)
      "if (any (off)), error (\"%d elements are wrong, the first at %d\", nnz (off), find (off, 1)), endif"};
    if (p.nout == 2)
      [code, data] = literal (p.older, "older", data);
      lines{end+1} = sprintf ("older = %s;", code);
      lines{end+1} = "if (isa (z, \"DeviceArray\")), z = gather (z); endif";
      lines(end+1:end+2) = {
        sprintf("off = ! isequal (size (z), size (older)) || any (typecast (z(:), \"%s\") != typecast (older(:), \"%s\") ...", ...
                word, word)
        "  & ! (isnan (z(:)) & isnan (older(:)))); if (off), error (\"the older level is wrong\"), endif"};
    endif
  endif
  if (! isempty (fieldnames (data)))
    file = fullfile (folder, "call.mat");
    save ("-binary", file, "data");
    lines = [lines(1), {"load (fullfile (fileparts (mfilename (\"fullpath\")), \"call.mat\"));"}, lines(2:end)];
  endif
  text = sprintf ("%s\n", lines{:});
  fid = fopen (fullfile (folder, "call.m"), "w");
  fputs (fid, text);
  fclose (fid);
  puts (text);
endfunction

## An expression for an array: its digits, or its place in the file.
function [code, data] = literal (value, name, data)
  if (ischar (value))
    code = ["\"" value "\""];
  elseif (iscomplex (value))
    [re, data] = literal (real (value), [name "_re"], data);
    [im, data] = literal (imag (value), [name "_im"], data);
    code = sprintf ("complex (%s, %s)", re, im);
  elseif (numel (value) <= 64)
    code = sprintf ("reshape (%s ([%s]), [%s])", class (value), sprintf (" %.17g", value)(2:end), ...
                    num2str (size (value)));
  else
    data.(name) = value;
    code = ["data." name];
  endif
endfunction
