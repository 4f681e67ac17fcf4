## -*- texinfo -*-
## @deftypefn {} {@var{names} =} without_blocks (@var{kind}, @var{names})
## Those of the package's functions @var{names} whose files have no block of a kind: @qcode{"demo"}, or a pattern of
## kinds.
## @end deftypefn

function names = without_blocks (kind, names)
  ## A class has a folder.
  of = @(name) glob (fullfile (installed (), "stencil-mex-*", {[name ".m"], fullfile(["@" name], [name ".m"])})){1};
  lacks = @(name) isempty (regexp (fileread (of (name)), ['^%!' kind '\>'], "once", "lineanchors"));
  names = names(cellfun (lacks, names));
endfunction
