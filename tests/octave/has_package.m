## -*- texinfo -*-
## @deftypefn {} {@var{yes} =} has_package (@var{name})
## True if the Octave under test has the package @var{name}.
## @end deftypefn

function yes = has_package (name)
  persistent known = struct ();
  if (! isfield (known, name))
    known.(name) = ! isempty (pkg ("list", name));
  endif
  yes = known.(name);
endfunction
