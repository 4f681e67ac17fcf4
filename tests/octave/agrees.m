## -*- texinfo -*-
## @deftypefn {} {} agrees (@var{x}, @var{taps}, @dots{})
## Calls StencilConstantMemory_CUDA with these arguments and raises unless the
## result is, to the bit, what @code{fma_stencil} makes of them, and unless both
## inputs are still what they were.
## @end deftypefn

function agrees (x, taps, varargin)
  ## As bits, since == sees neither the sign of a zero nor a NaN; typecast also
  ## copies, so that no write to x can reach these.
  before = fingerprint (x);
  taps_before = fingerprint (taps);
  y = StencilConstantMemory_CUDA (x, taps, varargin{:});
  want = fma_stencil (x, taps);
  [yes, why] = same_bits (y, want);
  what = sprintf ("x %s, %d taps", sprintf ("%d ", size (x)), numel (taps));
  if (! yes)
    error ("agrees: %s: %s", what, why);
  endif
  if (! isequal (fingerprint (x), before) ...
      || ! isequal (fingerprint (taps), taps_before))
    error ("agrees: %s: an input was written to", what);
  endif
endfunction

function bits = fingerprint (v)
  bits = typecast (full (v)(:), "uint64");
endfunction
