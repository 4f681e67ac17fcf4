## -*- texinfo -*-
## @deftypefn {} {[@var{names}, @var{inputs}] =} signatures ()
## Returns the contents of functionSignatures.json: the functions, and the arguments of each: a cell array of structs
## with the fields name, kind and choices, a cell array of words.
## @end deftypefn

function [names, inputs] = signatures ()
  file = fullfile (toolbox (), "toolbox", "resources", "functionSignatures.json");
  ## Octave would make valid names of those that begin with _ or have a dot.
  all = jsondecode (fileread (file), "makeValidName", false);
  names = setdiff (fieldnames (all), {"_schemaVersion"});
  inputs = cell (size (names));
  for i = 1:numel (names)
    listed = all.(names{i}).inputs;
    ## Objects with the same fields come as an array of structs, none as an array.
    if (! iscell (listed))
      listed = num2cell (listed);
    endif
    inputs{i} = cellfun (@input_of, listed(:), "UniformOutput", false);
  endfor
endfunction

function result = input_of (listed)
  choices = regexp (words (listed.type), 'choices=\{(.*?)\}', "tokens", "once");
  found = {};
  if (! isempty (choices))
    found = strrep (strsplit (choices{1}, ","), "'", "");
  endif
  result = struct ("name", listed.name, "kind", listed.kind, "choices", {found});
endfunction

## All the words of a list of lists.
function text = words (list)
  if (ischar (list))
    text = [list(:)', ";"];
  else
    text = strjoin (cellfun (@words, list(:)', "UniformOutput", false), "");
  endif
endfunction
