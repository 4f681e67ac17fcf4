## -*- texinfo -*-
## @deftypefn {} {[@var{names}, @var{arguments}] =} signatures ()
## What functionSignatures.json says: the functions, and the arguments of each: a cell array of structs with the fields
## name, kind and choices, a cell array of words.
## @end deftypefn

function [names, arguments] = signatures ()
  file = fullfile (toolbox (), "toolbox", "resources", "functionSignatures.json");
  ## Octave would make valid names of those that begin with _ or have a dot.
  all = jsondecode (fileread (file), "makeValidName", false);
  names = setdiff (fieldnames (all), {"_schemaVersion"});
  arguments = cell (size (names));
  for i = 1:numel (names)
    inputs = all.(names{i}).inputs;
    if (isstruct (inputs))
      inputs = num2cell (inputs);
    endif
    arguments{i} = cellfun (@argument, inputs(:), "UniformOutput", false);
  endfor
endfunction

function result = argument (input)
  types = input.type;
  while (any (cellfun (@iscell, types)))
    types = vertcat (types{:});
  endwhile
  choices = regexp (strjoin (types', ";"), 'choices=\{(.*?)\}', "tokens", "once");
  words = {};
  if (! isempty (choices))
    words = strrep (strsplit (choices{1}, ","), "'", "");
  endif
  result = struct ("name", input.name, "kind", input.kind, "choices", {words});
endfunction
