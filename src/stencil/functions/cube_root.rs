//! `cbrt`. Errors: up to 0.67 ulp.
//!
//! A third of the bits is an estimate, as in FreeBSD's `cbrt`; a polynomial refines it to 23 bits, and a step of
//! Halley's method to the rest.

use super::machine::Machine;
use super::steps::{polynomial, sign_of, with_sign};

/// `r^(-1/3)` for r from 0.909 to 1.1: degree 4, error 2 to -23.9.
const CUBE: [f64; 5] =
    [1.8723014694809326, -1.8705021841391352, 1.599926563638851, -0.7442223139104178, 0.1424964506139942];

/// Added to a third of the high bits: two thirds of the exponent's bias, less a correction that balances the error.
const BIAS: i64 = 715_094_163;

/// The cube root.
#[inline(always)]
pub fn cbrt<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    // Subnormal numbers are first scaled by 2 to 54.
    let (least, factor) = (m.number(f64::MIN_POSITIVE), m.number(18_014_398_509_481_984.0));
    let is_subnormal = m.less(a, least);
    let larger = m.mul(a, factor);
    let normal = m.select(is_subnormal, larger, a);
    let (usual, less) = (m.whole(BIAS), m.whole(BIAS - (18 << 20)));
    let bias = m.wselect(is_subnormal, less, usual);
    let (bits, third) = (m.bits(normal), m.whole(0x5555_5556));
    let high = m.shr(bits, 32);
    let high = m.wmul(high, third);
    let high = m.shr(high, 32);
    let high = m.wadd(high, bias);
    let bits = m.shl(high, 32);
    let estimate = m.of_bits(bits);
    let square = m.mul(estimate, estimate);
    let quotient = m.div(estimate, a);
    let cube = m.mul(square, quotient);
    let correction = polynomial(m, cube, &CUBE);
    let estimate = m.mul(estimate, correction);
    // Rounded to 23 bits: its square is exact.
    let (half, mask) = (m.whole(1 << 29), m.whole(-(1 << 30)));
    let bits = m.bits(estimate);
    let bits = m.wadd(bits, half);
    let bits = m.wand(bits, mask);
    let root = m.of_bits(bits);
    let square = m.mul(root, root);
    let other = m.div(a, square);
    let difference = m.sub(other, root);
    let twice = m.add(root, root);
    let sum = m.add(twice, other);
    let step = m.div(difference, sum);
    let result = m.fma(root, step, root);
    let result = with_sign(m, result, sign);
    let (zero, infinity) = (m.number(0.0), m.number(f64::INFINITY));
    let (is_positive, is_finite) = (m.less(zero, a), m.less(a, infinity));
    let is_usual = m.both(is_positive, is_finite);
    m.select(is_usual, result, x)
}
