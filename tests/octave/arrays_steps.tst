## DeviceArray: random things that are done in a step which is recorded, beside the same one after the other.

%!test # from seeds that do not change
%! warning ("off", "all", "local");
%! before = DeviceArray_CUDA ("count");
%! for seed = 1:{300, 2000}{1 + thorough ()}
%!   step_walk (seed, 12);
%! endfor
%! assert (DeviceArray_CUDA ("count"), before);
