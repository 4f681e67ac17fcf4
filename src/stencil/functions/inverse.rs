//! `asin` and `acos`. Errors: up to 0.7 ulp.
//!
//! Up to 1/2, `asin t = t + t^3 A(t^2)`. Beyond, `asin x = pi/2 - 2 asin t` with `t = sqrt ((1 - x) / 2)`, whose
//! rounding error is included.

use super::machine::Machine;
use super::steps::{Pair, fast_two_sum, numbers, polynomial, root, sign_of, with_sign};

/// pi/2 as a sum of two doubles.
const HALF_PI: [f64; 2] = [std::f64::consts::FRAC_PI_2, f64::from_bits(0x3c91_a626_3314_5c07)];

/// `(asin t - t) / t^3` in t^2, for t up to 1/2: degree 13, error 2 to -58.6.
const A: [f64; 14] = [
    0.16666666666666666,
    0.07500000000000118,
    0.044642857142551895,
    0.03038194447553234,
    0.02237215744350722,
    0.017352816540325496,
    0.01396378001220357,
    0.011566459612121669,
    0.009621842970100282,
    0.009319560794767446,
    0.0030448799094556773,
    0.019554513336123378,
    -0.01924167174674304,
    0.02961201126495512,
];

/// Common part of both functions, for a magnitude.
struct Common<M: Machine> {
    /// True if it is at most 1/2.
    is_small: M::Truth,
    /// The arc sine of `t`.
    arc: Pair<M>,
}

shared! {
    /// The arc of a magnitude; NaN beyond 1.
    fn common<M>(m, a: M::Number) -> Common<M> {
        let (half, zero) = (m.number(0.5), m.number(0.0));
        let is_small = m.less_equal(a, half);
        let minus_half = m.number(-0.5);
        // Exact from 1/2 on.
        let complement = m.fma(a, minus_half, half);
        let (root, root_error) = root(m, complement, None);
        let t = m.select(is_small, a, root);
        let rest = m.select(is_small, zero, root_error);
        let square = m.mul(a, a);
        let square = m.select(is_small, square, complement);
        let polynomial = polynomial(m, square, &A);
        let cube = m.mul(square, t);
        Common { is_small, arc: (t, m.fma(cube, polynomial, rest)) }
    }

    /// pi/2 times `factor`, minus `arc` times `times`.
    fn from_half_pi<M>(m, factor: f64, times: f64, arc: Pair<M>) -> M::Number {
        let (first, second) = numbers(m, [factor * HALF_PI[0], factor * HALF_PI[1]]);
        let minus = m.number(-times);
        let taken = m.mul(arc.0, minus);
        let (sum, error) = fast_two_sum(m, first, taken);
        let rest = m.fma(arc.1, minus, second);
        let rest = m.add(error, rest);
        m.add(sum, rest)
    }
}

/// The arc sine; NaN beyond 1.
#[inline(always)]
pub fn asin<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let Common { is_small, arc } = common(m, a);
    let near = m.add(arc.0, arc.1);
    let far = from_half_pi(m, 1.0, 2.0, arc);
    let result = m.select(is_small, near, far);
    with_sign(m, result, sign)
}

/// The arc cosine; NaN beyond 1.
#[inline(always)]
pub fn acos<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let Common { is_small, arc } = common(m, a);
    let signed = (with_sign(m, arc.0, sign), with_sign(m, arc.1, sign));
    let near = from_half_pi(m, 1.0, 1.0, signed);
    let (zero, two) = (m.number(0.0), m.number(2.0));
    let doubled = m.add(arc.0, arc.1);
    let doubled = m.mul(doubled, two);
    let far = from_half_pi(m, 2.0, 2.0, arc);
    let is_negative = m.less(x, zero);
    let far = m.select(is_negative, far, doubled);
    m.select(is_small, near, far)
}
