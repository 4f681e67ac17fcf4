//! `log`, `log2`, `log10` and `log1p`. Errors: up to 0.7 ulp.
//!
//! `x = 2^k z` with z from sqrt (1/2) to sqrt 2; with `f = z - 1`, which is exact, and `s = f / (2 + f)`,
//! `log z = f - f^2/2 + s (f^2/2 + R (s))` where `2 s + s R (s)` is the series of `log ((1 + s) / (1 - s))`.

use super::exponential::LN2;
use super::machine::Machine;
use super::steps::{
    Pair, SHIFTER, SHIFTER_BITS, fast_two_sum, numbers, polynomial, power_of_two, two_product, two_sum,
};

/// `(log ((1 + s) / (1 - s)) - 2 s) / s^3` in s^2, for |s| up to 0.172: degree 7, error 2 to -60.7.
const R: [f64; 8] = [
    0.6666666666666666,
    0.4000000000000088,
    0.2857142857080323,
    0.2222222239180047,
    0.18181795630884753,
    0.15386240205813478,
    0.13268759668560612,
    0.13086767009948175,
];

/// Bits of sqrt (1/2).
const ROOT_BITS: i64 = 0x3fe6_a09e_667f_3bcd;

/// The logarithm of 2 to the base 10 as a sum, whose first term has 42 bits.
const LOG10_2: [f64; 2] = [f64::from_bits(0x3fd3_4413_509f_7800), f64::from_bits(0x3d1f_ef31_1f12_b358)];

/// 1 / log 2 and 1 / log 10 as sums of two doubles.
const PER_LN2: [f64; 2] = [std::f64::consts::LOG2_E, f64::from_bits(0x3c77_77d0_ffda_0d24)];
const PER_LN10: [f64; 2] = [std::f64::consts::LOG10_E, f64::from_bits(0x3c69_5355_baaa_fad3)];

/// A number as `2^k z`.
pub(super) struct Split<M: Machine> {
    /// k.
    pub(super) count: M::Number,
    /// k.
    pub(super) whole: M::Whole,
    /// z, from sqrt (1/2) to sqrt 2.
    pub(super) z: M::Number,
}

shared! {
    /// Splits a positive normal number, and subtracts `less` from k if given.
    fn split_normal<M>(m, x: M::Number, less: Option<M::Whole>) -> Split<M> {
        let (bits, root) = (m.bits(x), m.whole(ROOT_BITS));
        let (bias, fraction) = (m.whole(1023 << 52), m.whole((1 << 52) - 1));
        let over = m.wsub(bits, root);
        let low = m.wand(over, fraction);
        let biased = m.wadd(over, bias);
        let biased = m.shr(biased, 52);
        let bias = m.whole(1023);
        let whole = m.wsub(biased, bias);
        let whole = match less {
            Some(less) => m.wsub(whole, less),
            None => whole,
        };
        let z = m.wadd(low, root);
        let (shifter, shifter_bits) = (m.number(SHIFTER), m.whole(SHIFTER_BITS));
        let shifted = m.wadd(whole, shifter_bits);
        let shifted = m.of_bits(shifted);
        Split { count: m.sub(shifted, shifter), whole, z: m.of_bits(z) }
    }

    /// Splits a positive number.
    pub(super) fn split<M>(m, x: M::Number) -> Split<M> {
        let (least, factor) = (m.number(f64::MIN_POSITIVE), m.number(18_014_398_509_481_984.0));
        let is_subnormal = m.less(x, least);
        let larger = m.mul(x, factor);
        let x = m.select(is_subnormal, larger, x);
        let (none, places) = (m.whole(0), m.whole(54));
        let less = m.wselect(is_subnormal, places, none);
        split_normal(m, x, Some(less))
    }

    /// `log (1 + f)` as a sum, for f from sqrt (1/2) - 1 to sqrt 2 - 1.
    fn log_near_one<M>(m, f: M::Number) -> Pair<M> {
        let (two, half) = (m.number(2.0), m.number(0.5));
        let under = m.add(f, two);
        let s = m.div(f, under);
        let square = m.mul(s, s);
        let series = polynomial(m, square, &R);
        let half_f = m.mul(f, half);
        let (half_square, half_square_error) = two_product(m, half_f, f);
        let inner = m.fma(square, series, half_square);
        let minus = m.neg(half_square);
        let (first, error) = fast_two_sum(m, f, minus);
        let error = m.sub(error, half_square_error);
        (first, m.fma(s, inner, error))
    }

    /// `k log 2 + (first, rest)`, of a logarithm to any base.
    fn with_powers<M>(m, count: M::Number, two: [f64; 2], (first, rest): Pair<M>) -> M::Number {
        let (high, low) = numbers(m, two);
        let powers = m.mul(count, high);
        let (sum, error) = fast_two_sum(m, powers, first);
        let rest = m.add(error, rest);
        let rest = m.fma(count, low, rest);
        m.add(sum, rest)
    }

    /// Replaces a logarithm unless it is of a positive finite number.
    fn with_special<M>(m, x: M::Number, zero_at: f64, result: M::Number) -> M::Number {
        let (origin, infinity) = (m.number(zero_at), m.number(f64::INFINITY));
        let (minus_infinity, nan) = (m.number(f64::NEG_INFINITY), m.number(f64::NAN));
        let is_inside = m.less(origin, x);
        let is_finite = m.less(x, infinity);
        let is_origin = m.equal(x, origin);
        let is_infinite = m.equal(x, infinity);
        let outside = m.select(is_origin, minus_infinity, nan);
        let outside = m.select(is_infinite, infinity, outside);
        let is_usual = m.both(is_inside, is_finite);
        m.select(is_usual, result, outside)
    }
}

/// The natural logarithm; NaN of negative numbers.
#[inline(always)]
pub fn log<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let Split { count, z, .. } = split(m, x);
    let one = m.number(1.0);
    let f = m.sub(z, one);
    let near = log_near_one(m, f);
    let result = with_powers(m, count, LN2, near);
    with_special(m, x, 0.0, result)
}

shared! {
    /// A logarithm to another base: `per` is the inverse of the base's natural logarithm, and `two` the logarithm of 2.
    fn log_to<M>(m, x: M::Number, per: [f64; 2], two: [f64; 2]) -> M::Number {
        let Split { count, z, .. } = split(m, x);
        let one = m.number(1.0);
        let f = m.sub(z, one);
        let (first, rest) = log_near_one(m, f);
        let (first, rest) = fast_two_sum(m, first, rest);
        let (per, per_rest) = numbers(m, per);
        let (product, error) = two_product(m, first, per);
        let error = m.fma(first, per_rest, error);
        let error = m.fma(rest, per, error);
        let result = with_powers(m, count, two, (product, error));
        with_special(m, x, 0.0, result)
    }
}

/// The logarithm to the base 2; NaN of negative numbers. Exact for powers of 2.
#[inline(always)]
pub fn log2<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    log_to(m, x, PER_LN2, [1.0, 0.0])
}

/// The logarithm to the base 10; NaN of negative numbers. Exact for powers of 10.
#[inline(always)]
pub fn log10<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    log_to(m, x, PER_LN10, LOG10_2)
}

shared! {
    /// The logarithm of `2^more (1 + x + rest)`, for a sum of at least sqrt (1/2) - 1, or an `x` above -1 without a
    /// rest. `rest` is small relative to `x`.
    pub(super) fn log1p_of_sum<M>(m, x: M::Number, rest: Option<M::Number>, more: Option<M::Number>) -> M::Number {
        let (one, zero) = (m.number(1.0), m.number(0.0));
        let (u, lost) = two_sum(m, one, x);
        let (lost, rest) = match rest {
            Some(rest) => (m.add(lost, rest), rest),
            None => (lost, zero),
        };
        let Split { count, whole, z } = split_normal(m, u, None);
        let (bias, bound) = (m.whole(1023), m.number(100.0));
        let exponent = m.wsub(bias, whole);
        let inverse = power_of_two(m, exponent);
        // Beyond 2 to 100 the error is negligible.
        let is_seen = m.less(count, bound);
        let lost = m.select(is_seen, lost, zero);
        let inverse = m.select(is_seen, inverse, zero);
        let lost = m.mul(lost, inverse);
        let f = m.sub(z, one);
        // Without a power of 2, f is x itself.
        let is_near = m.equal(count, zero);
        let f = m.select(is_near, x, f);
        let lost = m.select(is_near, rest, lost);
        let (first, rest) = log_near_one(m, f);
        // The error is multiplied by the slope, 1 / (1 + f).
        let slope = polynomial(m, f, &[1.0, -1.0, 1.0, -1.0, 1.0]);
        let rest = m.fma(lost, slope, rest);
        let count = match more {
            Some(more) => m.add(count, more),
            None => count,
        };
        with_powers(m, count, LN2, (first, rest))
    }
}

/// `log (1 + x)`, accurate for a small `x`; NaN below -1.
#[inline(always)]
pub fn log1p<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let result = log1p_of_sum(m, x, None, None);
    let result = with_special(m, x, -1.0, result);
    // A sum of zeros is +0.
    let zero = m.number(0.0);
    let is_zero = m.equal(x, zero);
    m.select(is_zero, x, result)
}
