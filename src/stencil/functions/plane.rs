//! Functions of a point of the plane: `atan2`, `hypot`, and `atan`, the angle of (1, x). Errors: up to 0.7 ulp for
//! `atan`, 0.76 for `atan2`, and 0.51 for `hypot`, but 0.76 if that is subnormal.
//!
//! An angle up to pi/2 is that of a base, 0, pi/4 or pi/2, plus `atan t` with |t| <= tan (pi/8); `t` is one quotient of
//! sums of the coordinates.

use super::machine::Machine;
use super::steps::{
    Pair, at_most, fast_two_sum, minus_product, numbers, polynomial, power_of_two, quotient, select_pair, sign_of,
    two_product, two_sum, with_sign,
};

/// pi/4 as a sum of two doubles.
const QUARTER_PI: [f64; 2] = [std::f64::consts::FRAC_PI_4, f64::from_bits(0x3c81_a626_3314_5c07)];

/// tan (pi/8); its inverse is 2 more.
const EIGHTH: f64 = 0.41421356237309503;

/// `(atan t - t) / t^3` in t^2, for |t| up to tan (pi/8): degree 11, error 2 to -58.2.
const T: [f64; 12] = [
    -0.3333333333333333,
    0.19999999999999804,
    -0.14285714285659779,
    0.11111111105150588,
    -0.09090908753259112,
    0.07692296368042296,
    -0.0666642476020052,
    0.05878927554473807,
    -0.05230443640686948,
    0.045515447340221615,
    -0.03456931506332609,
    0.016284375050043393,
];

shared! {
    /// The angle of a point with coordinates from +0 on, as a sum. Doubling it must not overflow, nor its quotients be
    /// inexact.
    fn angle<M>(m, x: M::Number, y: M::Number) -> Pair<M> {
        let (eighth, zero) = (m.number(EIGHTH), m.number(0.0));
        let (near, far) = (m.mul(x, eighth), m.mul(y, eighth));
        let is_near = m.less_equal(y, near);
        let is_far = m.less(x, far);
        // Base 0: y / x. Base pi/4: (y - x) / (y + x). Base pi/2: -x / y.
        let minus_x = m.neg(x);
        let difference = two_sum(m, y, minus_x);
        let sum = two_sum(m, y, x);
        let over = select_pair(m, is_far, (minus_x, zero), difference);
        let over = select_pair(m, is_near, (y, zero), over);
        let under = select_pair(m, is_far, (y, zero), sum);
        let under = select_pair(m, is_near, (x, zero), under);
        let (t, rest) = quotient(m, over, under);
        let square = m.mul(t, t);
        let polynomial = polynomial(m, square, &T);
        let cube = m.mul(square, t);
        // The rest is multiplied by the slope, 1 / (1 + t^2), of which two terms are enough.
        let slope_of_rest = minus_product(m, square, rest, rest);
        let tail = m.fma(cube, polynomial, slope_of_rest);
        let quarter = numbers(m, QUARTER_PI);
        let half = numbers(m, [2.0 * QUARTER_PI[0], 2.0 * QUARTER_PI[1]]);
        let base = select_pair(m, is_far, half, quarter);
        let (base, base_rest) = select_pair(m, is_near, (zero, zero), base);
        let (sum, error) = fast_two_sum(m, base, t);
        let error = m.add(error, base_rest);
        (sum, m.add(error, tail))
    }
}

/// The arc tangent. Beyond 2 to 60 it is pi/2.
#[inline(always)]
pub fn atan<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let a = at_most(m, a, 1_152_921_504_606_846_976.0);
    let one = m.number(1.0);
    let (first, rest) = angle(m, one, a);
    let result = m.add(first, rest);
    with_sign(m, result, sign)
}

/// Magnitudes times a power of two, so that the larger is about 2 to 100, and the inverse of that power.
struct Scaled<M: Machine> {
    larger: M::Number,
    a: M::Number,
    b: M::Number,
    inverse: M::Number,
}

#[inline(always)]
fn scaled<M: Machine>(m: &mut M, a: M::Number, b: M::Number) -> Scaled<M> {
    let is_less = m.less(a, b);
    let larger = m.select(is_less, b, a);
    // The exponent field of the factor is 2146 minus that of the larger one, but at most 2045.
    let bits = m.bits(larger);
    let field = m.shr(bits, 52);
    let least = m.whole(101);
    let is_low = m.wless(field, least);
    let field = m.wselect(is_low, least, field);
    let (sum, hundred) = (m.whole(2146), m.whole(100));
    let (factor, inverse) = (m.wsub(sum, field), m.wsub(field, hundred));
    let (factor, inverse) = (power_of_two(m, factor), power_of_two(m, inverse));
    Scaled { larger, a: m.mul(a, factor), b: m.mul(b, factor), inverse }
}

/// 1 for infinity, 0 for a finite number.
#[inline(always)]
fn at_infinity<M: Machine>(m: &mut M, magnitude: M::Number) -> M::Number {
    let (zero, one, infinity) = (m.number(0.0), m.number(1.0), m.number(f64::INFINITY));
    let is_infinite = m.equal(magnitude, infinity);
    // NaN stays.
    let finite = m.mul(magnitude, zero);
    m.select(is_infinite, one, finite)
}

/// The angle of the point (x, y), from -pi to pi.
#[inline(always)]
pub fn atan2<M: Machine>(m: &mut M, y: M::Number, x: M::Number) -> M::Number {
    let (sign_y, sign_x) = (sign_of(m, y), sign_of(m, x));
    let (a, b) = (m.abs(y), m.abs(x));
    let Scaled { larger, a: scaled_a, b: scaled_b, .. } = scaled(m, a, b);
    // Two zeros count as (1, 0), and infinity as 1 relative to finite numbers.
    let (zero, one, infinity) = (m.number(0.0), m.number(1.0), m.number(f64::INFINITY));
    let is_infinite = m.equal(larger, infinity);
    let (a, b) = (at_infinity(m, a), at_infinity(m, b));
    let (a, b) = select_pair(m, is_infinite, (a, b), (scaled_a, scaled_b));
    let (no_a, no_b) = (m.equal(a, zero), m.equal(b, zero));
    let are_zeros = m.both(no_a, no_b);
    let b = m.select(are_zeros, one, b);
    let (first, rest) = angle(m, b, a);
    let near = m.add(first, rest);
    // On the left side it is pi minus that.
    let (pi, pi_rest) = numbers(m, [4.0 * QUARTER_PI[0], 4.0 * QUARTER_PI[1]]);
    let minus = m.neg(first);
    let (sum, error) = fast_two_sum(m, pi, minus);
    let rest = m.sub(pi_rest, rest);
    let rest = m.add(error, rest);
    let far = m.add(sum, rest);
    let none = m.whole(0);
    let is_right = m.wequal(sign_x, none);
    let result = m.select(is_right, near, far);
    with_sign(m, result, sign_y)
}

/// `sqrt (a^2 + b^2)` without overflow in between. Infinite if one is, even if the other is NaN.
#[inline(always)]
pub fn hypot<M: Machine>(m: &mut M, a: M::Number, b: M::Number) -> M::Number {
    let (a, b) = (m.abs(a), m.abs(b));
    let scaled = scaled(m, a, b);
    let (first, first_error) = two_product(m, scaled.a, scaled.a);
    let (second, second_error) = two_product(m, scaled.b, scaled.b);
    let (sum, error) = two_sum(m, first, second);
    let errors = m.add(first_error, second_error);
    let error = m.add(error, errors);
    let (zero, half, infinity) = (m.number(0.0), m.number(0.5), m.number(f64::INFINITY));
    let is_zero = m.equal(sum, zero);
    let root = m.sqrt(sum);
    let rest = minus_product(m, root, root, sum);
    let rest = m.add(rest, error);
    let rest = m.mul(rest, half);
    let correction = m.div(rest, root);
    let result = m.add(root, correction);
    let result = m.mul(result, scaled.inverse);
    let result = m.select(is_zero, zero, result);
    let (a, b) = (m.equal(a, infinity), m.equal(b, infinity));
    let is_infinite = m.either(a, b);
    m.select(is_infinite, infinity, result)
}
