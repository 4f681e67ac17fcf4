//! Powers of e: `exp` and `expm1`. Errors: up to 0.65 ulp, and 0.76 where the result of `exp` is subnormal.
//!
//! `x = k log 2 + r` with an integer `k` and `|r| <= log 2 / 2`; then `e^x = 2^k e^r`, and `e^r` is 1 + r + r^2/2 + r^3
//! E(r).

use super::machine::Machine;
use super::steps::{
    Pair, SHIFTER, SHIFTER_BITS, at_least, at_most, fast_two_sum, minus_product, numbers, polynomial, power_of_two,
    scaled, two_product, two_sum,
};

/// log 2 as a sum. The first term has 42 bits: its product with an integer of 11 is exact.
pub(super) const LN2: [f64; 2] = [f64::from_bits(0x3fe6_2e42_fefa_3800), f64::from_bits(0x3d2e_f357_93c7_6730)];

/// `(e^r - 1 - r - r^2 / 2) / r^3` for |r| up to log 2 / 2: degree 9, error 2 to -61.6.
const E: [f64; 10] = [
    0.1666666666666667,
    0.04166666666666667,
    0.008333333333326136,
    0.0013888888888883748,
    0.00019841269874820627,
    2.4801587325547743e-05,
    2.7557255400206422e-06,
    2.75572736431103e-07,
    2.5105217004720745e-08,
    2.0914686968086876e-09,
];

/// `x + rest` reduced modulo log 2.
pub(super) struct Reduced<M: Machine> {
    /// Number of multiples removed.
    pub(super) count: M::Number,
    pub(super) whole: M::Whole,
    /// The remainder, as a sum.
    pub(super) r: M::Number,
    pub(super) rest: M::Number,
}

shared! {
    /// Reduces a sum from about -1100 to 1100.
    pub(super) fn reduced<M>(m, x: M::Number, rest: Option<M::Number>) -> Reduced<M> {
        let (per, shifter) = (m.number(std::f64::consts::LOG2_E), m.number(SHIFTER));
        let shifted = m.fma(x, per, shifter);
        let count = m.sub(shifted, shifter);
        let (bits, shifter_bits) = (m.bits(shifted), m.whole(SHIFTER_BITS));
        let whole = m.wsub(bits, shifter_bits);
        let (high, low) = numbers(m, LN2);
        let exact = minus_product(m, count, high, x);
        let tail = match rest {
            None => {
                let product = m.mul(count, low);
                m.neg(product)
            }
            Some(rest) => minus_product(m, count, low, rest),
        };
        let (r, rest) = fast_two_sum(m, exact, tail);
        Reduced { count, whole, r, rest }
    }

    /// e to the power of a sum from -1100 to 710, over the power of 2 that comes with it.
    pub(super) fn power_of_sum<M>(m, x: M::Number, rest: Option<M::Number>) -> (Pair<M>, M::Whole) {
        let Reduced { whole, r, rest, .. } = reduced(m, x, rest);
        let (one, half) = (m.number(1.0), m.number(0.5));
        let (sum, error) = fast_two_sum(m, one, r);
        let square = m.mul(r, r);
        let e = polynomial(m, r, &E);
        let e = m.fma(e, r, half);
        let tail = m.fma(rest, sum, error);
        ((sum, m.fma(square, e, tail)), whole)
    }

    /// e to the power of a sum from -746 to 710, or NaN.
    pub(super) fn exp_of_sum<M>(m, x: M::Number, rest: Option<M::Number>) -> M::Number {
        let ((sum, tail), whole) = power_of_sum(m, x, rest);
        let power = m.add(sum, tail);
        scaled(m, power, whole)
    }
}

/// e to the power of `x`.
#[inline(always)]
pub fn exp<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let x = at_most(m, x, 710.0);
    let x = at_least(m, x, -746.0);
    exp_of_sum(m, x, None)
}

/// `e^x - 1`, accurate for a small `x`: `2^k ((1 - 2^-k) + r + r^2/2 + r^3 E(r))`.
#[inline(always)]
pub fn expm1<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let bounded = at_most(m, x, 710.0);
    let bounded = at_least(m, bounded, -40.0);
    let Reduced { count, whole, r, rest } = reduced(m, bounded, None);
    let (zero, half, one) = (m.number(0.0), m.number(0.5), m.number(1.0));
    // Beyond 2 to 100 the 1 is negligible.
    let (bound, bias) = (m.number(100.0), m.whole(1023));
    let seen = m.less(count, bound);
    let exponent = m.wsub(bias, whole);
    let inverse = power_of_two(m, exponent);
    let inverse = m.select(seen, inverse, zero);
    // 1 - 2^-k as a sum; it is not smaller than r, or zero.
    let minus = m.neg(inverse);
    let (base, base_error) = two_sum(m, one, minus);
    let (sum, error) = fast_two_sum(m, base, r);
    let error = m.add(error, base_error);
    let (square, square_error) = two_product(m, r, r);
    let half_square = m.mul(square, half);
    let (sum, other_error) = fast_two_sum(m, sum, half_square);
    let error = m.add(error, other_error);
    let error = m.fma(square_error, half, error);
    let cube = m.mul(square, r);
    let e = polynomial(m, r, &E);
    let tail = m.add(rest, error);
    let tail = m.fma(rest, r, tail);
    let tail = m.fma(cube, e, tail);
    let result = m.add(sum, tail);
    let result = scaled(m, result, whole);
    // A sum of zeros is +0.
    let is_zero = m.equal(x, zero);
    m.select(is_zero, x, result)
}
