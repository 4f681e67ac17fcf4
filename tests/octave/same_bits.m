## -*- texinfo -*-
## @deftypefn {} {[@var{yes}, @var{why}] =} same_bits (@var{a}, @var{b})
## True if two full arrays of one class, of numbers or truth values, both real or both complex, have one size, NaN in
## the same places and the same bits everywhere else.  (The bits of a NaN are not promised.) @var{why} names the first
## difference.
## @end deftypefn

function [yes, why] = same_bits (a, b)
  why = "";
  if (! plain (a) || ! plain (b) || ! strcmp (kind (a), kind (b)))
    why = sprintf ("a %s against a %s", kind (a), kind (b));
  elseif (! isequal (size (a), size (b)))
    why = sprintf ("size %s against %s", shape (a), shape (b));
  elseif (iscomplex (a))
    [yes, why] = same_bits ([real(a)(:); imag(a)(:)], [real(b)(:); imag(b)(:)]);
  else
    off = a(:) != b(:);
    if (isfloat (a))
      word = ifelse_text (isa (a, "single"), "uint32", "uint64");
      off = typecast (a(:), word) != typecast (b(:), word);
      off &= ! (isnan (a(:)) & isnan (b(:)));
    endif
    if (any (off))
      i = find (off, 1);
      [a, b] = deal (a(:), b(:));
      [p, q] = deal (+a(i), +b(i));
      why = sprintf ("%d of %d elements differ, the first at %d: %.17g (%s) against %.17g (%s)", ...
                     nnz (off), numel (a), i, p, num2hex (p), q, num2hex (q));
    endif
  endif
  yes = isempty (why);
endfunction

function yes = plain (v)
  yes = (isnumeric (v) || islogical (v)) && ! issparse (v);
endfunction

function s = kind (v)
  s = sprintf ("%s%s%s", ifelse_text (issparse (v), "sparse "), ...
               ifelse_text (iscomplex (v), "complex "), class (v));
endfunction

function s = ifelse_text (condition, text, other = "")
  s = other;
  if (condition)
    s = text;
  endif
endfunction

function s = shape (v)
  s = sprintf ("%dx", size (v))(1:end-1);
endfunction
