## The reference the other files rest on: exact_fma and fma_stencil themselves.

## Cases from a C library's fma, each also worked out with rational numbers.
%!test
%! for type = {"double", "single"}
%!   v = hard_fma_cases (type{1});
%!   for i = 1:rows (v)
%!     [yes, why] = same_bits (exact_fma (v(i,1), v(i,2), v(i,3)), v(i,4));
%!     assert (yes, "%s, row %d: %s", type{1}, i, why);
%!   endfor
%!   ## All elements together take the mixed path.
%!   [yes, why] = same_bits (exact_fma (v(:,1), v(:,2), v(:,3)), v(:,4));
%!   assert (yes, why);
%! endfor

## The tables are useful only if many of their rows distinguish an fma from two roundings, and some of the singles from
## a sum that was first rounded to double.
%!test
%! for type = {"double", "single"}
%!   v = hard_fma_cases (type{1});
%!   plain = v(:,1) .* v(:,2) + v(:,3);
%!   assert (nnz (plain != v(:,4)) >= rows (v) / 2);
%! endfor
%! v = double (hard_fma_cases ("single"));
%! assert (nnz (single (v(:,1) .* v(:,2) + v(:,3)) != single (v(:,4))) >= 8);

%!test # one rounding: (1 + 2^-30)^2 - (1 + 2^-29) is 2^-60, not 0
%! e = 2 ^ -30;
%! assert (exact_fma (1 + e, 1 + e, -(1 + 2 * e)), 2 ^ -60);

%!test # signs of zero
%! assert (signbit (exact_fma (-0, 1, 0)) == 0);
%! assert (signbit (exact_fma (-0, 1, -0)) != 0);
%! assert (signbit (exact_fma (-1, 1, 1)) == 0);
%! assert (signbit (exact_fma (-1e-300, 1e-300, 0)) != 0);
%! assert (signbit (exact_fma (single (-0), single (1), single (-0))) != 0);
%! assert (signbit (exact_fma (single (-1), single (1), single (1))) == 0);
%! assert (signbit (exact_fma (single (-1e-30), single (1e-30), single (0))) != 0);

%!test # what is not finite
%! assert (exact_fma (1e300, 1e300, -Inf), -Inf);
%! assert (exact_fma (1e300, 1e10, -1e308), Inf);
%! assert (exact_fma (1e308, 10, -Inf), -Inf);
%! assert (isnan (exact_fma (0, Inf, 1)));
%! assert (isnan (exact_fma (1, Inf, -Inf)));
%! assert (isnan (exact_fma (1, NaN, 0)));
%! assert (exact_fma (1e200, 1e200, 0), Inf);
%! s = @single;
%! assert (exact_fma (s (1e30), s (1e30), s (-Inf)), s (-Inf));
%! assert (exact_fma (s (1e30), s (1e10), s (-1)), s (Inf));
%! assert (exact_fma (realmax ("single"), s (2), -realmax ("single")), realmax ("single"));
%! assert (isnan (exact_fma (s (0), s (Inf), s (1))));
%! assert (isnan (exact_fma (s (1), s (Inf), s (-Inf))));
%! assert (isnan (exact_fma (s (1), s (NaN), s (0))));

%!test # halves of the smallest denormal go to even
%! tiny = 2 ^ -1074;
%! assert (exact_fma (tiny, 0.5, 0) == 0);
%! assert (exact_fma (tiny, 1.5, 0) == 2 * tiny);
%! assert (exact_fma (tiny, 2.5, 0) == 2 * tiny);
%! assert (exact_fma (tiny, 0.5, tiny) == 2 * tiny);
%! assert (exact_fma (3 * tiny, 0.5, -tiny) == 0);

%!test # a scalar meets an array
%! assert (exact_fma ([1 2; 3 4], 2, 1), [3 5; 7 9]);
%! assert (exact_fma (single ([1 2; 3 4]), single (2), single (1)), single ([3 5; 7 9]));

%!test # the document's example, and no flip
%! assert (fma_stencil (ones (1, 20), ones (1, 11)), [6:11, 11*ones(1, 8), 11:-1:6]);
%! assert (fma_stencil ([0 0 1 0 0], [1 2 3]), [0 3 2 1 0]);
%! assert (fma_stencil ([1 2 3; 4 5 6], [0 0 1]), [4 5 6; 0 0 0]);
%! assert (fma_stencil (reshape (1:4, 1, 1, 4), [0 0 1]), reshape ([2 3 4 0], 1, 1, 4));
%! assert (size (fma_stencil (zeros (1, 0, 3), 1)), [1 0 3]);

## same_bits must see differences that == does not.
%!assert (same_bits ([1 NaN -0], [1 NaN -0]))
%!assert (! same_bits (0, -0))
%!assert (! same_bits (NaN, 1))
%!assert (! same_bits (1, 1 + eps))
%!assert (! same_bits ([1 2], [1; 2]))
%!assert (! same_bits (1, single (1)))
%!assert (same_bits (single ([1 NaN -0]), single ([1 NaN -0])))
%!assert (! same_bits (single (0), single (-0)))
%!assert (! same_bits (single (1), 1 + eps ("single")))
%!assert (same_bits (int8 ([1 2]), int8 ([1 2])) && ! same_bits (int8 ([1 2]), int8 ([1 3])))
%!assert (! same_bits (int8 (1), uint8 (1)))
%!assert (! same_bits (1, sparse (1)))
%!assert (! same_bits (1, complex (1, 0)))
