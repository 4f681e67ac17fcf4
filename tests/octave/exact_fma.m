## -*- texinfo -*-
## @deftypefn {} {@var{z} =} exact_fma (@var{a}, @var{b}, @var{c})
## The fused multiply-add @code{a*b + c}, rounded once, element by element, in
## plain Octave: of doubles, or of singles, which all three must be then.
##
## Singles are the easy ones.  The product of two is a double exactly, the sum
## with the third is made a double with rounding to odd, and rounding that to
## single is then as good as rounding the sum itself: 53 bits are more than the
## 24 + 2 that this needs.
##
## Usual doubles are computed as by Boldo and Melquiond (Emulation of FMA and correctly rounded sums: proved algorithms
## using rounding to odd, 2008): the product and the sums are split without error, the small parts are added with
## rounding to odd, and one ordinary addition then rounds the whole.  That holds while no intermediate result over- or
## underflows, which is guaranteed if @math{2^{-900} <= |a*b|, |c| <= 2^{1000}} (or c is 0) and @math{2^{-960} <= |a|,
## |b| <= 2^{990}}.
##
## Finite elements outside that domain (denormals, results that overflow) go
## through a fixed-point number wide enough for every double and every product
## of two: slow, and right everywhere.  Where a factor is zero or an operand is
## not finite, the plain expression is already the answer.
##
## Most calls have usual elements and zeros alone: of a zero the splitting makes the other summand, and only where the
## result is a zero, too, its sign is that of the plain expression.
## @end deftypefn

function z = exact_fma (a, b, c)
  if (isa (a, "double") && isa (b, "double") && isa (c, "double") && isscalar (b) && size_equal (a, c) ...
      && whole (a, 2 ^ 25) && whole (b, 2 ^ 25) && whole (c, 2 ^ 50))
    z = a * b + c;                      # nothing rounds
    return;
  endif
  if (isa (a, "double") && isa (b, "double") && isa (c, "double") && isscalar (b) && size_equal (a, c) ...
      && usual (a, -450, 500) && usual (b, -450, 500) && usual (c, -900, 1000))
    z = by_splitting (a, b, c);
    zero = z == 0;
    if (any (zero(:)))
      z(zero) = (a .* b + c)(zero);
    endif
    return;
  endif
  if (isa (a, "single") && isa (b, "single") && isa (c, "single") && isscalar (b) && size_equal (a, c))
    z = in_doubles (double (a), double (b), double (c));
    return;
  endif
  [err, a, b, c] = common_size (a, b, c);
  if (err)
    error ("exact_fma: sizes differ");
  endif
  if (isa (a, "single") && isa (b, "single") && isa (c, "single"))
    z = in_doubles (double (a), double (b), double (c));
    return;
  endif

  p = a .* b;
  z = p + c;

  factors = isfinite (a) & isfinite (b);
  ## A finite product must not meet an infinite c as an overflowed infinity.
  keep = factors & isinf (c);
  z(keep) = c(keep);

  todo = factors & isfinite (c) & a != 0 & b != 0;
  easy = todo & within (a, -960, 990) & within (b, -960, 990) ...
         & within (p, -900, 1000) & (c == 0 | within (c, -900, 1000));
  if (all (easy(:)))
    z = by_splitting (a, b, c);
    return;
  endif
  if (any (easy(:)))
    z(easy) = by_splitting (a(easy), b(easy), c(easy));
  endif
  hard = find (todo & ! easy);
  ## A few at a time: each takes 176 digits.
  for first = 1:4096:numel (hard)
    i = hard(first:min (first + 4095, numel (hard)));
    z(i) = by_fixed_point (a(i), b(i), c(i));
  endfor
endfunction

function yes = whole (v, most)
  yes = v == fix (v) & abs (v) < most;
  yes = all (yes(:));
endfunction

function yes = usual (v, lo, hi)
  yes = v == 0 | within (v, lo, hi);
  yes = all (yes(:));
endfunction

function yes = within (v, lo, hi)
  v = abs (v);
  yes = v >= 2 ^ lo & v <= 2 ^ hi;
endfunction

function z = by_splitting (a, b, c)
  ## Veltkamp's halves and Dekker's product: uh + ul is a*b exactly.
  t = 134217729 * a;  ah = t - (t - a);  al = a - ah;
  t = 134217729 * b;  bh = t - (t - b);  bl = b - bh;
  uh = a .* b;
  ul = ((ah .* bh - uh) + ah .* bl + al .* bh) + al .* bl;

  [th, tl] = two_sum (c, ul);
  [vh, vl] = two_sum (uh, th);
  [s, e] = two_sum (tl, vl);
  z = vh + to_odd (s, e);
endfunction

## Nothing over- or underflows here: the products of singles, and their sums, lie
## well inside the range of doubles.
function z = in_doubles (a, b, c)
  [s, e] = two_sum (a .* b, c);
  e(! isfinite (s)) = 0;      # the sum is the answer, whatever became of its error
  z = single (to_odd (s, e));
endfunction

## s + e, where s is the nearest double, rounded to odd: if s is inexact and its
## last bit even, the neighbour on the side of the error has the odd bit.
function s = to_odd (s, e)
  bits = typecast (s(:), "uint64");
  move = e(:) != 0 & bitand (bits, uint64 (1)) == 0;
  away = (e(:) > 0) == (s(:) > 0);
  bits(move & away) += uint64 (1);
  bits(move & ! away) -= uint64 (1);
  s(:) = typecast (bits, "double");
endfunction

function [s, e] = two_sum (a, b)
  s = a + b;
  t = s - a;
  e = (a - (s - t)) + (b - t);
endfunction

## Digits in base 2^24, the first one weighing 2^-2148: the square of the
## smallest denormal is the unit, and 176 digits pass the largest product.
function z = by_fixed_point (a, b, c)
  n = numel (a);
  shape = size (a);
  [ma, ea] = integer_parts (a(:).');
  [mb, eb] = integer_parts (b(:).');
  [mc, ec] = integer_parts (c(:).');
  acc = zeros (180, n);

  e = ea + eb + 2148;
  at = floor (e / 24);
  da = digits_of (abs (ma) .* 2 .^ (e - 24 * at), 4);
  db = digits_of (abs (mb), 3);
  sgn = sign (ma) .* sign (mb);
  for i = 1:4
    for j = 1:3
      k = sub2ind (size (acc), at + i + j - 1, 1:n);
      acc(k) += sgn .* da(i,:) .* db(j,:);
    endfor
  endfor

  e = ec + 2148;
  at = floor (e / 24);
  dc = digits_of (abs (mc) .* 2 .^ (e - 24 * at), 4);
  for i = 1:4
    k = sub2ind (size (acc), at + i, 1:n);
    acc(k) += sign (mc) .* dc(i,:);
  endfor

  [acc, over] = carry (acc);
  negative = over < 0;
  if (any (negative))
    [again, over] = carry (-acc(:,negative));
    acc(:,negative) = again;
  endif

  ## The last place kept: 53 bits below the top one, never below 2^-1074.
  nonzero = acc != 0;
  top = zeros (1, n);
  for i = 1:rows (acc)
    top(nonzero(i,:)) = i;
  endfor
  zero = top == 0;
  top(zero) = 1;
  lead = acc(sub2ind (size (acc), top, 1:n));
  lead(zero) = 1;
  [~, width] = log2 (lead);            # exact, unlike floor (log2 (lead))
  last = max (24 * (top - 1) + width - 53, 1074);
  q = floor (last / 24);
  s = last - 24 * q;
  q(s == 0) -= 1;                      # so that the half bit is in digit q
  s(s == 0) = 24;
  take = @(i) acc(sub2ind (size (acc), i, 1:n));
  low = take (q + 1);
  head = floor (low ./ 2 .^ s);
  v = head + take (q + 2) .* 2 .^ (24 - s) + take (q + 3) .* 2 .^ (48 - s) ...
      + take (q + 4) .* 2 .^ (72 - s);
  rest = low - head .* 2 .^ s;
  half = 2 .^ (s - 1);
  below = cumsum (nonzero, 1)(sub2ind (size (acc), q, 1:n)) > 0;
  up = rest > half | (rest == half & (below | mod (v, 2) == 1));
  v += up;
  z = v .* 2 .^ (last - 2148);
  z(negative) = -z(negative);          # keeps the sign of what rounds to zero
  z(zero) = 0;
  z = reshape (z, shape);
endfunction

## v = m * 2^e with m an integer below 2^53 and e at least -1074.
function [m, e] = integer_parts (v)
  [f, e] = log2 (v);
  e = max (e - 53, -1074);
  e(v == 0) = 0;
  ## In two steps, since 2^1074 is no double.
  m = v .* 2 .^ (-ceil (e / 2)) .* 2 .^ (ceil (e / 2) - e);
endfunction

function d = digits_of (m, count)
  d = zeros (count, numel (m));
  for i = 1:count
    rest = floor (m / 16777216);
    d(i,:) = m - 16777216 * rest;
    m = rest;
  endfor
endfunction

function [d, c] = carry (d)
  c = zeros (1, columns (d));
  for i = 1:rows (d)
    row = d(i,:) + c;
    c = floor (row / 16777216);
    d(i,:) = row - 16777216 * c;
  endfor
endfunction
