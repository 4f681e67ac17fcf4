//! `sinh`, `cosh` and `tanh`. Errors: up to 0.6 ulp.
//!
//! For `|x| = k log 2 + r`, both `e^r` and `e^-r` are sums of two doubles, from the even and the odd part of one
//! series. The functions are their sum, their difference, and the quotient of these.

use super::exponential::{Reduced, reduced};
use super::machine::Machine;
use super::steps::{
    Pair, at_most, fast_two_sum, minus_product, normal, polynomial, power_of_two, quotient, scaled, sign_of,
    two_product, with_sign,
};

/// `(cosh r - 1 - r^2 / 2) / r^4` in r^2, for |r| up to log 2 / 2: degree 4, error 2 to -65.3.
const EVEN: [f64; 5] =
    [0.04166666666666668, 0.0013888888888879073, 2.4801587336442236e-05, 2.75572632790885e-07, 2.0918137737642736e-09];

/// `(sinh r - r) / r^3` in r^2, for |r| up to log 2 / 2: degree 5, error 2 to -59.6.
const ODD: [f64; 6] = [
    0.16666666666666666,
    0.008333333333333333,
    0.00019841269841263298,
    2.755731924721873e-06,
    2.505207109429355e-08,
    1.608662795678037e-10,
];

/// Both powers of e, over 2^k.
struct Powers<M: Machine> {
    /// k.
    whole: M::Whole,
    /// `e^a / 2^k`.
    up: Pair<M>,
    /// `e^-a / 2^k`.
    down: Pair<M>,
}

shared! {
    /// The powers of a number from 0 to 711.
    fn powers<M>(m, a: M::Number) -> Powers<M> {
        let Reduced { count, whole, r, rest } = reduced(m, a, None);
        let (one, half) = (m.number(1.0), m.number(0.5));
        let (square, square_error) = two_product(m, r, r);
        // The even part without its first two terms, and the odd part without its first.
        let even = polynomial(m, square, &EVEN);
        let odd = polynomial(m, square, &ODD);
        let (fourth, cube) = (m.mul(square, square), m.mul(square, r));
        let odd = m.mul(cube, odd);
        let half_square = m.mul(square, half);
        let (base, base_error) = fast_two_sum(m, one, half_square);
        let base_error = m.fma(square_error, half, base_error);
        let even = m.fma(fourth, even, base_error);
        let minus = m.neg(r);
        let (up, up_error) = fast_two_sum(m, base, r);
        let (down, down_error) = fast_two_sum(m, base, minus);
        let (plus_odd, minus_odd) = (m.add(even, odd), m.sub(even, odd));
        let plus_odd = m.fma(rest, up, plus_odd);
        let minus_odd = minus_product(m, rest, down, minus_odd);
        let (up_rest, down_rest) = (m.add(up_error, plus_odd), m.add(down_error, minus_odd));
        // 4^-k; beyond k = 40 the second power is negligible.
        let (bound, zero, bias) = (m.number(40.0), m.number(0.0), m.whole(1023));
        let seen = m.less(count, bound);
        let twice = m.shl(whole, 1);
        let exponent = m.wsub(bias, twice);
        let factor = power_of_two(m, exponent);
        let factor = m.select(seen, factor, zero);
        let down = (m.mul(down, factor), m.mul(down_rest, factor));
        Powers { whole, up: (up, up_rest), down }
    }

    /// `e^a - e^-a` over 2^k.
    fn difference<M>(m, powers: &Powers<M>) -> Pair<M> {
        let minus = m.neg(powers.down.0);
        let (first, error) = fast_two_sum(m, powers.up.0, minus);
        let rest = m.sub(powers.up.1, powers.down.1);
        (first, m.add(error, rest))
    }

    /// `e^a + e^-a` over 2^k.
    fn sum<M>(m, powers: &Powers<M>) -> Pair<M> {
        let (first, error) = fast_two_sum(m, powers.up.0, powers.down.0);
        let rest = m.add(powers.up.1, powers.down.1);
        (first, m.add(error, rest))
    }

    /// Half of a sum times 2^k.
    fn half_of<M>(m, (first, rest): Pair<M>, whole: M::Whole) -> M::Number {
        let (result, one) = (m.add(first, rest), m.whole(1));
        let whole = m.wsub(whole, one);
        scaled(m, result, whole)
    }
}

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let a = at_most(m, a, 711.0);
    let powers = powers(m, a);
    let difference = difference(m, &powers);
    let result = half_of(m, difference, powers.whole);
    with_sign(m, result, sign)
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let a = m.abs(x);
    let a = at_most(m, a, 711.0);
    let powers = powers(m, a);
    let sum = sum(m, &powers);
    half_of(m, sum, powers.whole)
}

/// The hyperbolic tangent. Beyond 22 it is 1.
#[inline(always)]
pub fn tanh<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let a = at_most(m, a, 22.0);
    let powers = powers(m, a);
    let (over, under) = (difference(m, &powers), sum(m, &powers));
    let (over, under) = (normal(m, over), normal(m, under));
    let (first, rest) = quotient(m, over, under);
    let result = m.add(first, rest);
    with_sign(m, result, sign)
}
