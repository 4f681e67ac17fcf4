//! `asinh`, `acosh` and `atanh`. Errors: up to 0.7 ulp.
//!
//! Each is `log (1 + f)`, of a sum `f` of two doubles: `a + sqrt (a^2 + 1) - 1`, `a + sqrt (a^2 - 1) - 1`, and, twice
//! the result, `2 a / (1 - a)`.

use super::logarithm::log1p_of_sum;
use super::machine::Machine;
use super::steps::{fast_two_sum, quotient, root, sign_of, two_product, two_sum, with_sign};

/// From this on, 2 to 60, the root of `a^2 + 1` is that of `a^2`.
const LARGE: f64 = 1_152_921_504_606_846_976.0;

shared! {
    /// `log (a + sqrt (a^2 + unit))`, for 1 and -1.
    fn with_root<M>(m, a: M::Number, unit: f64) -> M::Number {
        let (square, error) = two_product(m, a, a);
        let number = m.number(unit);
        let (sum, sum_error) = two_sum(m, square, number);
        let error = m.add(error, sum_error);
        let (sum, error) = fast_two_sum(m, sum, error);
        let (root, root_error) = root(m, sum, Some(error));
        // Both differences are exact to the digits that matter.
        let (zero, one) = (m.number(0.0), m.number(1.0));
        let (larger, smaller) = if unit > 0.0 { (a, root) } else { (root, a) };
        let (larger, smaller) = (larger, m.sub(smaller, one));
        let (f, rest) = fast_two_sum(m, larger, smaller);
        let rest = m.add(rest, root_error);
        // 2 a, as a power of 2 more.
        let bound = m.number(LARGE);
        let is_large = m.less(bound, a);
        let f = m.select(is_large, a, f);
        let rest = m.select(is_large, zero, rest);
        let more = m.select(is_large, one, zero);
        log1p_of_sum(m, f, Some(rest), Some(more))
    }

    /// The result if it is regular, infinity if `is_infinite`, else NaN.
    fn with_special<M>(m, is_usual: M::Truth, is_infinite: M::Truth, result: M::Number) -> M::Number {
        let (infinity, nan) = (m.number(f64::INFINITY), m.number(f64::NAN));
        let outside = m.select(is_infinite, infinity, nan);
        m.select(is_usual, result, outside)
    }
}

/// The inverse hyperbolic sine.
#[inline(always)]
pub fn asinh<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let result = with_root(m, a, 1.0);
    let infinity = m.number(f64::INFINITY);
    let (is_usual, is_infinite) = (m.less(a, infinity), m.equal(a, infinity));
    let result = with_special(m, is_usual, is_infinite, result);
    with_sign(m, result, sign)
}

/// The inverse hyperbolic cosine; NaN below 1.
#[inline(always)]
pub fn acosh<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let result = with_root(m, x, -1.0);
    let (one, infinity) = (m.number(1.0), m.number(f64::INFINITY));
    let (is_inside, is_finite) = (m.less_equal(one, x), m.less(x, infinity));
    let (is_usual, is_infinite) = (m.both(is_inside, is_finite), m.equal(x, infinity));
    with_special(m, is_usual, is_infinite, result)
}

/// The inverse hyperbolic tangent; NaN beyond 1.
#[inline(always)]
pub fn atanh<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let (zero, half, one) = (m.number(0.0), m.number(0.5), m.number(1.0));
    let (minus, twice) = (m.neg(a), m.add(a, a));
    let under = fast_two_sum(m, one, minus);
    let (f, rest) = quotient(m, (twice, zero), under);
    let doubled = log1p_of_sum(m, f, Some(rest), None);
    let result = m.mul(doubled, half);
    let (is_usual, is_infinite) = (m.less(a, one), m.equal(a, one));
    let result = with_special(m, is_usual, is_infinite, result);
    with_sign(m, result, sign)
}
