## -*- texinfo -*-
## @deftypefn {} {[@var{values}, @var{no_floats}] =} no_real_floats ()
## A cell array of everything that is not a real, full array of doubles or
## singles: other classes, sparse arrays, complex ones.  @var{no_floats} is that without
## full complex arrays of these two classes.
## @end deftypefn

function [values, no_floats] = no_real_floats ()
  others = {int8(1:3), int16(1:3), int32(1:3), int64(1:3), ...
            uint8(1:3), uint16(1:3), uint32(1:3), uint64(1:3), int8([]), int32(7), int8(1):int8(3), ...
            true(1, 3), true, (1:3) > 2, eye(3) > 0, logical([]), "abc", 'a', "", ...
            {}, {1, "a", 3}, {{1}}, struct(), struct("a", {1, 2, 3}), struct([]), ...
            @sin, @(t) t, inputParser(), containers.Map()};
  sparses = {sparse(1:3), sparse(eye(3)), sparse(5), sparse(0), sparse(4, 4), sparse([]), ...
             sparse(1000, 1000), sparse([1 0 1i]), sparse(true)};
  ## Also where the imaginary part is 0.
  complexes = {1i, [1 2 3i], complex(1, 0), complex(1:3, 0), complex(ones(3), 0), ...
               complex(NaN, Inf), complex(zeros(0, 3), 0), 1i * eye(3), ...
               single(1i), complex(single(1:3), 0)};
  ## An Octave that narrows here has made a real array.
  complexes = complexes(cellfun (@iscomplex, complexes));
  assert (numel (complexes) >= 6);
  no_floats = [others, sparses];
  values = [no_floats, complexes];
endfunction
