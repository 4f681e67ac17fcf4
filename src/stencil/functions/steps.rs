//! Steps shared by several functions: sums of two doubles, polynomials, powers of two, signs.

use super::machine::Machine;

/// An unevaluated sum of two numbers: the first is the sum rounded, or nearly so.
pub(super) type Pair<M> = (<M as Machine>::Number, <M as Machine>::Number);

/// 1.5 times 2 to 52: a small integer added to it appears in the low bits of the sum.
pub(super) const SHIFTER: f64 = 6_755_399_441_055_744.0;

/// The bits of [`SHIFTER`].
pub(super) const SHIFTER_BITS: i64 = 0x4338_0000_0000_0000;

/// The sign bit.
pub(super) const SIGN: i64 = i64::MIN;

shared! {
    /// `a + b` and its rounding error. Exact if `a` is a zero or its magnitude is not smaller than that of `b`.
    pub(super) fn fast_two_sum<M>(m, a: M::Number, b: M::Number) -> Pair<M> {
        let sum = m.add(a, b);
        let taken = m.sub(a, sum);
        (sum, m.add(taken, b))
    }

    /// `a + b` and its rounding error, for any order of magnitudes.
    pub(super) fn two_sum<M>(m, a: M::Number, b: M::Number) -> Pair<M> {
        let sum = m.add(a, b);
        let of_b = m.sub(sum, a);
        let of_a = m.sub(sum, of_b);
        let (lost_a, lost_b) = (m.sub(a, of_a), m.sub(b, of_b));
        (sum, m.add(lost_a, lost_b))
    }

    /// `a b` and its rounding error.
    pub(super) fn two_product<M>(m, a: M::Number, b: M::Number) -> Pair<M> {
        let product = m.mul(a, b);
        let minus = m.neg(product);
        (product, m.fma(a, b, minus))
    }

    /// `c - a b`, rounded once.
    pub(super) fn minus_product<M>(m, a: M::Number, b: M::Number, c: M::Number) -> M::Number {
        let minus = m.neg(a);
        m.fma(minus, b, c)
    }
}

/// Evaluates a polynomial, whose lowest coefficient comes first, by Horner's method.
#[inline(always)]
pub(super) fn polynomial<M: Machine, const N: usize>(m: &mut M, x: M::Number, coefficients: &[f64; N]) -> M::Number {
    horner(m, x, coefficients)
}

shared! {
    /// A polynomial of any degree.
    fn horner<M>(m, x: M::Number, coefficients: &[f64]) -> M::Number {
        let mut sum = m.number(coefficients[coefficients.len() - 1]);
        for i in (0..coefficients.len() - 1).rev() {
            let next = m.number(coefficients[i]);
            sum = m.fma(sum, x, next);
        }
        sum
    }

    /// A quotient of two sums, as a sum. Its relative error is about 2 to -104.
    pub(super) fn quotient<M>(m, (n, n_rest): Pair<M>, (d, d_rest): Pair<M>) -> Pair<M> {
        let one = m.number(1.0);
        let inverse = m.div(one, d);
        let first = m.mul(n, inverse);
        let rest = minus_product(m, first, d, n);
        let rest = m.add(rest, n_rest);
        let rest = minus_product(m, first, d_rest, rest);
        (first, m.mul(rest, inverse))
    }

    /// A product of two sums.
    pub(super) fn times<M>(m, (a, a_rest): Pair<M>, (b, b_rest): Pair<M>) -> Pair<M> {
        let (product, error) = two_product(m, a, b);
        let error = m.fma(a, b_rest, error);
        (product, m.fma(a_rest, b, error))
    }

    /// The square root of a number, or of a sum whose first number is the sum rounded, as a sum.
    pub(super) fn root<M>(m, a: M::Number, rest: Option<M::Number>) -> Pair<M> {
        let (half, zero, one) = (m.number(0.5), m.number(0.0), m.number(1.0));
        let root = m.sqrt(a);
        let is_zero = m.equal(root, zero);
        let divisor = m.select(is_zero, one, root);
        let error = minus_product(m, root, root, a);
        let error = match rest {
            Some(rest) => m.add(error, rest),
            None => error,
        };
        let half_error = m.mul(error, half);
        (root, m.div(half_error, divisor))
    }

    /// The power of two with these exponent bits.
    pub(super) fn power_of_two<M>(m, biased: M::Whole) -> M::Number {
        let bits = m.shl(biased, 52);
        m.of_bits(bits)
    }
}

/// Two constants, or one as a sum.
#[inline(always)]
pub(super) fn numbers<M: Machine>(m: &mut M, [a, b]: [f64; 2]) -> Pair<M> {
    (m.number(a), m.number(b))
}

/// Normalises a sum: the first number becomes the sum rounded. The first must not be smaller than the second, or be
/// zero.
#[inline(always)]
pub(super) fn normal<M: Machine>(m: &mut M, (a, b): Pair<M>) -> Pair<M> {
    fast_two_sum(m, a, b)
}

shared! {
    /// `a` if `which` is true, else `b`.
    pub(super) fn select_pair<M>(m, which: M::Truth, a: Pair<M>, b: Pair<M>) -> Pair<M> {
        (m.select(which, a.0, b.0), m.select(which, a.1, b.1))
    }

    /// `x` times 2 to the power of `whole`, which is from -2044 to 2046. There are two factors, and the product with
    /// the first is exact: so a subnormal result is rounded only once.
    pub(super) fn scaled<M>(m, x: M::Number, whole: M::Whole) -> M::Number {
        let biases = m.whole(2 * 1023);
        let biased = m.wadd(whole, biases);
        let half = m.shr(biased, 1);
        let other = m.wsub(biased, half);
        let (half, other) = (power_of_two(m, half), power_of_two(m, other));
        let first = m.mul(x, half);
        m.mul(first, other)
    }

    /// The sign bit of `x`, alone.
    pub(super) fn sign_of<M>(m, x: M::Number) -> M::Whole {
        let (bits, sign) = (m.bits(x), m.whole(SIGN));
        m.wand(bits, sign)
    }

    /// `x`, negated if the sign bit is set in `sign`.
    pub(super) fn with_sign<M>(m, x: M::Number, sign: M::Whole) -> M::Number {
        let bits = m.bits(x);
        let bits = m.wxor(bits, sign);
        m.of_bits(bits)
    }

    /// Clamps a number to at most `bound`; NaN is unchanged.
    pub(super) fn at_most<M>(m, x: M::Number, bound: f64) -> M::Number {
        let bound = m.number(bound);
        let beyond = m.less(bound, x);
        m.select(beyond, bound, x)
    }

    /// Clamps a number to at least `bound`; NaN is unchanged.
    pub(super) fn at_least<M>(m, x: M::Number, bound: f64) -> M::Number {
        let bound = m.number(bound);
        let beyond = m.less(x, bound);
        m.select(beyond, bound, x)
    }
}
