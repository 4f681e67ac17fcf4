//! `erf` and `erfc`. Errors: up to 1.1 and 1.25 ulp.
//!
//! `erfc a = e^(-a^2) H (t) / (a + 4)`, where H is a polynomial in `t = (a - 4) / (a + 4)`, as in Shepherd and
//! Laframboise (1981). `erf a` is 1 minus that, but up to 1/2 a polynomial of its own.

use super::exponential::power_of_sum;
use super::machine::Machine;
use super::steps::{
    at_most, fast_two_sum, minus_product, numbers, polynomial, scaled, sign_of, times, two_product, two_sum, with_sign,
};

/// `(erf a / a - 2 / sqrt pi) / a^2` in a^2, for a up to 1/2: degree 8, error 2 to -57.8.
const NEAR: [f64; 9] = [
    -0.37612638903183754,
    0.112837916709551,
    -0.02686617064510409,
    0.005223977624325344,
    -0.0008548326793233783,
    0.0001205530629440674,
    -1.4923829613452872e-05,
    1.6389446360450111e-06,
    -1.4787385599052157e-07,
];

/// 2 / sqrt pi as a sum of two doubles.
const PER_ROOT_PI: [f64; 2] = [std::f64::consts::FRAC_2_SQRT_PI, f64::from_bits(0x3c71_ae3a_914f_ed80)];

/// H of 0 as a sum of two doubles.
const MIDDLE: [f64; 2] = [1.095995661000491, f64::from_bits(0x3c90_981a_a127_47ce)];

/// `(H - H (0)) / t` for t from -1 to 3/4, which is a from 0 to 28, but for its first coefficient: degree 22, error 2
/// to -55.3.
const FIRST: f64 = -0.976548729080882;
const H: [f64; 22] = [
    0.7732087022652372,
    -0.5408538313132365,
    0.3308515878780009,
    -0.17401093723987385,
    0.07638151490972853,
    -0.02637005334147332,
    0.006112055648545124,
    -0.0002809588542722099,
    -0.0004550526174815566,
    0.00017681275702130403,
    -3.635544758876481e-06,
    -1.8860696727427575e-05,
    4.695747859011177e-06,
    1.4239032596060454e-06,
    -8.492690120772295e-07,
    -7.551022653251151e-08,
    1.2857851263814274e-07,
    1.5355688939249436e-09,
    -1.9098584331443315e-08,
    -8.52458670607738e-10,
    2.2880056929912794e-09,
    4.798440055199612e-10,
];

/// The derivative of H: degree 3, error 2 to -3.2.
const SLOPE: [f64; 4] = [-0.8966853438340789, 1.2717326228266272, -2.3727239123022117, 2.3295150069114428];

shared! {
    /// `erfc a` of a magnitude. Beyond 28 it is 0.
    fn complement<M>(m, a: M::Number) -> M::Number {
        let a = at_most(m, a, 28.0);
        let (one, four, minus_eight) = (m.number(1.0), m.number(4.0), m.number(-8.0));
        let (sum, sum_error) = two_sum(m, a, four);
        let inverse = m.div(one, sum);
        let rest = minus_product(m, sum, inverse, one);
        let rest = minus_product(m, sum_error, inverse, rest);
        let rest = m.mul(rest, inverse);
        let taken = m.mul(inverse, minus_eight);
        let (t, error) = fast_two_sum(m, one, taken);
        let t_rest = m.fma(rest, minus_eight, error);
        let (first, (middle, middle_rest)) = (m.number(FIRST), numbers(m, MIDDLE));
        let high = polynomial(m, t, &H);
        let high = m.mul(high, t);
        let (factor, factor_error) = two_sum(m, first, high);
        let (product, error) = two_product(m, factor, t);
        let error = m.fma(factor_error, t, error);
        let slope = polynomial(m, t, &SLOPE);
        let error = m.fma(slope, t_rest, error);
        let (h, h_error) = two_sum(m, middle, product);
        let error = m.add(error, middle_rest);
        let error = m.add(h_error, error);
        let per = times(m, (h, error), (inverse, rest));
        let (square, square_error) = two_product(m, a, a);
        let (minus, minus_error) = (m.neg(square), m.neg(square_error));
        let (power, whole) = power_of_sum(m, minus, Some(minus_error));
        let (result, rest) = times(m, per, power);
        let result = m.add(result, rest);
        scaled(m, result, whole)
    }
}

/// The error function.
#[inline(always)]
pub fn erf<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let (half, one) = (m.number(0.5), m.number(1.0));
    let (factor, factor_rest) = numbers(m, PER_ROOT_PI);
    let square = m.mul(a, a);
    let tail = polynomial(m, square, &NEAR);
    let tail = m.fma(square, tail, factor_rest);
    let tail = m.mul(a, tail);
    let near = m.fma(a, factor, tail);
    let complement = complement(m, a);
    let far = m.sub(one, complement);
    let is_near = m.less(a, half);
    let result = m.select(is_near, near, far);
    with_sign(m, result, sign)
}

/// The complementary error function, `1 - erf x`.
#[inline(always)]
pub fn erfc<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let a = m.abs(x);
    let right = complement(m, a);
    let (zero, two) = (m.number(0.0), m.number(2.0));
    let left = m.sub(two, right);
    let is_left = m.less(x, zero);
    m.select(is_left, left, right)
}
