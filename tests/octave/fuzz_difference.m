## -*- texinfo -*-
## @deftypefn {} {@var{why} =} fuzz_difference (@var{c}, @var{y}, @var{z})
## Returns the difference of the results of a call from those of @code{fuzz_result}, "" if there is none.
## @end deftypefn

function why = fuzz_difference (c, y, z)
  [y, z] = deal (fuzz_gathered (y), fuzz_gathered (z));
  why = "";
  if (! isequal (size (y), c.size))
    why = sprintf ("size %s instead of %s", mat2str (size (y)), mat2str (c.size));
    return;
  endif
  y = y(:)(c.at);
  if (iscomplex (c.want))
    ## Without imaginary parts Octave has made it real.
    signs = @(v) merge (iscomplex (y), v, abs (v));
    c.want = [real(c.want); signs(imag (c.want))];
    y = [real(y); imag(y)];
  endif
  [~, why] = same_bits (y(:), c.want(:));
  if (isempty (why) && c.nout == 2)
    [~, why] = same_bits (z, c.older);
    why = [{"", "the older level: "}{1 + ! isempty(why)}, why];
  endif
endfunction
