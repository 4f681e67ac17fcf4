## DeviceArray: random operations in a recorded step, compared with the same operations one after the other.

%!test # from seeds that do not change
%! warning ("off", "all", "local");
%! before = DeviceArray_CUDA ("count");
%! for seed = 1:1000
%!   if (takes ({"seeds", seed}))
%!     step_walk (seed, 12);
%!   endif
%! endfor
%! assert (DeviceArray_CUDA ("count"), before);
