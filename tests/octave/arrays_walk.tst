## DeviceArray: random sequences of operators, indices, assignments, concatenation and reductions, each step beside the same
## on ordinary arrays.

%!test # from seeds that do not change
%! warning ("off", "all", "local");
%! before = DeviceArray_CUDA ("count");
%! for seed = 1:2000
%!   if (takes ({"seeds", seed}))
%!     array_walk (seed, 12);
%!   endif
%! endfor
%! assert (DeviceArray_CUDA ("count"), before);
