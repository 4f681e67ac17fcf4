//! Real powers. Errors: up to 0.65 ulp, and 0.76 where the result is subnormal.
//!
//! `|x|^y = e^(y log |x|)`. The product may be 745, and its error is that of the result: so the logarithm is a sum of
//! two doubles, whose error is less than 2 to -68 of it.

use super::exponential::{LN2, exp_of_sum};
use super::logarithm::{Split, split};
use super::machine::Machine;
use super::steps::{Pair, fast_two_sum, numbers, polynomial, quotient, sign_of, times, two_product, with_sign};

/// `(log ((1 + s) / (1 - s)) - 2 s - 2/3 s^3 - 2/5 s^5) / s^7` in s^2, for |s| up to 0.172: degree 6, error 2 to -68.2.
const TAIL: [f64; 7] = [
    0.285714285714286,
    0.22222222222140664,
    0.1818181822608058,
    0.15384606389061298,
    0.13334202049145272,
    0.11721811990546963,
    0.11566360418810438,
];

/// 2/3 and 2/5 as sums of two doubles.
const THIRD: [f64; 2] = [2.0 / 3.0, f64::from_bits(0x3c85_5555_5555_5555)];
const FIFTH: [f64; 2] = [2.0 / 5.0, f64::from_bits(0xbc79_9999_9999_999a)];

shared! {
    /// A constant and a smaller sum.
    fn plus<M>(m, constant: [f64; 2], (b, b_rest): Pair<M>) -> Pair<M> {
        let (a, a_rest) = numbers(m, constant);
        let (sum, error) = fast_two_sum(m, a, b);
        let rest = m.add(a_rest, b_rest);
        (sum, m.add(error, rest))
    }
}

/// The logarithm of a positive finite number.
#[inline(always)]
fn logarithm<M: Machine>(m: &mut M, x: M::Number) -> Pair<M> {
    let Split { count, z, .. } = split(m, x);
    let (one, zero) = (m.number(1.0), m.number(0.0));
    let f = m.sub(z, one);
    let under = fast_two_sum(m, one, z);
    // The quotient, here with its rounding error.
    let s = quotient(m, (f, zero), under);
    let square = times(m, s, s);
    let series = polynomial(m, square.0, &TAIL);
    let series = m.mul(square.0, series);
    let series = plus(m, FIFTH, (series, zero));
    let series = times(m, square, series);
    let series = plus(m, THIRD, series);
    let series = times(m, square, series);
    let series = times(m, s, series);
    let twice = (m.add(s.0, s.0), m.add(s.1, s.1));
    let (near, error) = fast_two_sum(m, twice.0, series.0);
    let rest = m.add(twice.1, series.1);
    let rest = m.add(error, rest);
    let (high, low) = numbers(m, LN2);
    let powers = m.mul(count, high);
    let (sum, error) = fast_two_sum(m, powers, near);
    let rest = m.fma(count, low, rest);
    let rest = m.add(error, rest);
    fast_two_sum(m, sum, rest)
}

/// `x` to the power of `y`, as in the C library, but NaN for any negative `x` with a `y` that is no integer.
#[inline(always)]
pub fn raised<M: Machine>(m: &mut M, x: M::Number, y: M::Number) -> M::Number {
    let a = m.abs(x);
    let (zero, one, infinity) = (m.number(0.0), m.number(1.0), m.number(f64::INFINITY));
    let minus_infinity = m.number(f64::NEG_INFINITY);
    let (first, rest) = logarithm(m, a);
    let (is_zero, is_infinite) = (m.equal(a, zero), m.equal(a, infinity));
    let first = m.select(is_zero, minus_infinity, first);
    let first = m.select(is_infinite, infinity, first);
    let (product, error) = two_product(m, first, y);
    let error = m.fma(rest, y, error);
    let (low, high) = (m.number(-746.0), m.number(710.0));
    let is_low = m.less(product, low);
    let is_high = m.less(high, product);
    let is_beyond = m.either(is_low, is_high);
    let product = m.select(is_low, low, product);
    let product = m.select(is_high, high, product);
    let error = m.select(is_beyond, zero, error);
    let power = exp_of_sum(m, product, Some(error));
    // Integers, and odd ones: half of them is no integer.
    let nearest = m.nearest(y);
    let is_whole = m.equal(nearest, y);
    let half = m.number(0.5);
    let half_y = m.mul(y, half);
    let nearest = m.nearest(half_y);
    let is_even = m.equal(nearest, half_y);
    let is_negative = m.less(x, zero);
    let nan = m.number(f64::NAN);
    let no_whole = m.not(is_whole);
    let is_complex = m.both(is_negative, no_whole);
    let is_number = m.equal(x, x);
    let no_number = m.not(is_number);
    let is_nan = m.either(is_complex, no_number);
    let power = m.select(is_nan, nan, power);
    // The sign of x is kept if y is odd.
    let minus = sign_of(m, x);
    let signed = with_sign(m, power, minus);
    let odd = m.not(is_even);
    let is_odd = m.both(is_whole, odd);
    let power = m.select(is_odd, signed, power);
    // 1 to any power is 1, as is the power 0, even with NaN.
    let (no_power, is_one) = (m.equal(y, zero), m.equal(x, one));
    let is_one = m.either(no_power, is_one);
    // -1 to an infinite power.
    let (is_unit, magnitude) = (m.equal(a, one), m.abs(y));
    let is_endless = m.equal(magnitude, infinity);
    let is_unit = m.both(is_unit, is_endless);
    let is_one = m.either(is_one, is_unit);
    m.select(is_one, one, power)
}
