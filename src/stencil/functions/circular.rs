//! `sin`, `cos` and `tan`, and `sinpi` and `cospi`, of multiples of pi. Errors: up to 0.7 ulp, of `tan` up to 0.75.
//!
//! `|x| = n pi/2 + r` with an integer `n` and |r| <= pi/4, `r` a sum of two doubles. Up to [`MODERATE`] pi/2 is a sum
//! of three doubles. Beyond, as Payne and Hanek (1983) found, only some bits of 2/pi matter: those before them
//! contribute multiples of 4, those after are too small. 192 bits are enough: no double comes nearer to a multiple of
//! pi/2 than 2 to -62.

use super::machine::Machine;
use super::steps::{
    Pair, SHIFTER, SIGN, fast_two_sum, minus_product, normal, numbers, polynomial, quotient, select_pair, sign_of,
    two_product, two_sum, with_sign,
};

/// Up to this, 2 to 40, arguments are reduced without the bits of 2/pi.
pub const MODERATE: f64 = 1_099_511_627_776.0;

/// Range of arguments of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All arguments.
    Everything,
    /// Arguments up to [`MODERATE`], infinities and NaN: fewer steps, which have the same bits there.
    Moderate,
}

/// pi/2 as a sum of three doubles.
const HALF_PI: [f64; 3] =
    [std::f64::consts::FRAC_PI_2, f64::from_bits(0x3c91_a626_3314_5c07), f64::from_bits(0xb91f_1976_b7ed_8fbc)];

/// Bits of 2/pi after the binary point, preceded by 64 zeros.
static TWO_OVER_PI: [u64; 20] = [
    0,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// `(sin r - r) / r^3` in r^2, for |r| up to pi/4: degree 6, error 2 to -57.2.
const SINE: [f64; 7] = [
    -0.16666666666666666,
    0.008333333333333331,
    -0.00019841269841264567,
    2.7557319218954762e-06,
    -2.505210610025599e-08,
    1.6058510875319195e-10,
    -7.585486485235938e-13,
];

/// Difference of its lowest coefficient from -1/6.
const SIXTH_REST: f64 = -1.0 / 6.0 * f64::EPSILON / 4.0;

/// `(cos r - 1 + r^2 / 2) / r^4` in r^2, for |r| up to pi/4: degree 6, error 2 to -59.9.
const COSINE: [f64; 7] = [
    0.041666666666666664,
    -0.0013888888888888887,
    2.4801587301584367e-05,
    -2.75573192211891e-07,
    2.0876755717584403e-09,
    -1.1470449354466773e-11,
    4.745198807202876e-14,
];

/// An angle reduced modulo pi/2.
struct Reduced<M: Machine> {
    /// Number of multiples removed; only the two lowest bits count.
    count: M::Whole,
    /// The remainder.
    r: Pair<M>,
}

shared! {
    /// Reduces a positive number.
    fn reduced<M>(m, a: M::Number, reach: Reach) -> Reduced<M> {
        let moderate = reduced_moderate(m, a);
        if reach == Reach::Moderate {
            return moderate;
        }
        let (bound, infinity) = (m.number(MODERATE), m.number(f64::INFINITY));
        let is_large = m.less(bound, a);
        let is_finite = m.less(a, infinity);
        let is_large = m.both(is_large, is_finite);
        let large = m.select(is_large, a, bound);
        let large = reduced_large(m, large);
        let count = m.wselect(is_large, large.count, moderate.count);
        Reduced { count, r: select_pair(m, is_large, large.r, moderate.r) }
    }
}

/// Reduces a number up to [`MODERATE`]. The first difference is exact.
#[inline(always)]
fn reduced_moderate<M: Machine>(m: &mut M, a: M::Number) -> Reduced<M> {
    let (per, shifter) = (m.number(std::f64::consts::FRAC_2_PI), m.number(SHIFTER));
    let shifted = m.fma(a, per, shifter);
    let count = m.sub(shifted, shifter);
    let (first, second) = numbers(m, [HALF_PI[0], HALF_PI[1]]);
    let third = m.number(HALF_PI[2]);
    let exact = minus_product(m, count, first, a);
    let (product, product_error) = two_product(m, count, second);
    let minus = m.neg(product);
    let (r, error) = two_sum(m, exact, minus);
    let rest = m.sub(error, product_error);
    let rest = minus_product(m, count, third, rest);
    Reduced { count: m.bits(shifted), r: (r, rest) }
}

/// Reduces a number from [`MODERATE`] on.
#[inline(always)]
fn reduced_large<M: Machine>(m: &mut M, a: M::Number) -> Reduced<M> {
    let bits = m.bits(a);
    let (fraction, hidden) = (m.whole((1 << 52) - 1), m.whole(1 << 52));
    let mantissa = m.wand(bits, fraction);
    let mantissa = m.wor(mantissa, hidden);
    // The number is the mantissa times 2^(exponent - 1075). Bits of 2/pi before place exponent - 1077 make multiples of
    // 4; the table begins 64 places before the point.
    let (exponent, bias) = (m.shr(bits, 52), m.whole(1077 - 64));
    let place = m.wsub(exponent, bias);
    let word = m.shr(place, 6);
    let (low, one, all) = (m.whole(63), m.whole(1), m.whole(63));
    let left = m.wand(place, low);
    let right = m.wsub(all, left);
    let mut at = word;
    let mut words = [word; 4];
    for word in &mut words {
        *word = m.word(&TWO_OVER_PI, at);
        at = m.wadd(at, one);
    }
    let mut aligned = [word; 3];
    for i in 0..3 {
        let high = m.shl_by(words[i], left);
        let low = m.shr(words[i + 1], 1);
        let low = m.shr_by(low, right);
        aligned[i] = m.wor(high, low);
    }
    let [first, second, third] = aligned;
    // 128 bits of the product, of which the first two count the multiples of pi/2.
    let high = m.wmul(mantissa, first);
    let carried = m.wmulhi(mantissa, second);
    let high = m.wadd(high, carried);
    let low = m.wmul(mantissa, second);
    let carried = m.wmulhi(mantissa, third);
    let low = m.wadd(low, carried);
    // As unsigned numbers, the sum is smaller than the addend if it overflowed 64 bits.
    let sign = m.whole(SIGN);
    let (sum, added) = (m.wxor(low, sign), m.wxor(carried, sign));
    let overflows = m.wless(sum, added);
    let more = m.wadd(high, one);
    let high = m.wselect(overflows, more, high);
    in_radians(m, high, low)
}

/// Computes `part`, of up to 32 bits, times 2 to the power of `lowest`, minus `taken`. Its bits become the low ones of
/// a power of two, which is subtracted.
#[inline(always)]
fn placed<M: Machine>(m: &mut M, part: M::Whole, lowest: i64, taken: f64) -> M::Number {
    let origin = (1023 + 52 + lowest) << 52;
    let bits = m.whole(origin);
    let bits = m.wor(part, bits);
    let (number, origin) = (m.of_bits(bits), m.number(f64::from_bits(origin as u64) + taken));
    m.sub(number, origin)
}

/// An angle in quarter turns: its 128 bits, two of them before the binary point.
#[inline(always)]
fn in_radians<M: Machine>(m: &mut M, high: M::Whole, low: M::Whole) -> Reduced<M> {
    let half = m.whole(1 << 61);
    let shifted = m.wadd(high, half);
    let count = m.shr(shifted, 62);
    // The remainder plus one half: 32 bits a part, but 30 in the first, which subtracts the half again.
    let (mask, part) = (m.whole((1 << 62) - 1), m.whole((1 << 32) - 1));
    let left = m.wand(shifted, mask);
    let parts = [m.shr(left, 32), m.wand(left, part), m.shr(low, 32), m.wand(low, part)];
    let first = placed(m, parts[0], -30, 0.5);
    let second = placed(m, parts[1], -62, 0.0);
    let third = placed(m, parts[2], -94, 0.0);
    let fourth = placed(m, parts[3], -126, 0.0);
    let (sum, error) = fast_two_sum(m, first, second);
    let (sum, other_error) = fast_two_sum(m, sum, third);
    let rest = m.add(other_error, fourth);
    let rest = m.add(error, rest);
    let (first, second) = numbers(m, [HALF_PI[0], HALF_PI[1]]);
    let (r, error) = two_product(m, sum, first);
    let error = m.fma(sum, second, error);
    Reduced { count, r: (r, m.fma(rest, first, error)) }
}

/// The sine of the remainder.
#[inline(always)]
fn sine<M: Machine>(m: &mut M, (r, rest): Pair<M>, (square, square_error): Pair<M>) -> Pair<M> {
    // The low part is multiplied by the cosine, of which two terms are enough.
    let (one, minus_half) = (m.number(1.0), m.number(-0.5));
    let slope = m.fma(square, minus_half, one);
    let tail = m.mul(rest, slope);
    let s = polynomial(m, square, &SINE);
    let (factor, error) = two_product(m, square, s);
    let lacking = m.number(SIXTH_REST);
    let error = m.fma(square, lacking, error);
    let error = m.fma(square_error, s, error);
    let tail = m.fma(r, error, tail);
    (r, m.fma(r, factor, tail))
}

/// The cosine of the remainder.
#[inline(always)]
fn cosine<M: Machine>(m: &mut M, (r, rest): Pair<M>, (square, square_error): Pair<M>) -> Pair<M> {
    let (one, minus_half) = (m.number(1.0), m.number(-0.5));
    let minus_half_square = m.mul(square, minus_half);
    let (sum, error) = fast_two_sum(m, one, minus_half_square);
    let error = m.fma(square_error, minus_half, error);
    let error = minus_product(m, r, rest, error);
    let c = polynomial(m, square, &COSINE);
    let fourth = m.mul(square, square);
    (sum, m.fma(fourth, c, error))
}

shared! {
    /// Both sine and cosine of the remainder.
    fn sine_and_cosine<M>(m, r: Pair<M>) -> [Pair<M>; 2] {
        let square = two_product(m, r.0, r.0);
        [sine(m, r, square), cosine(m, r, square)]
    }

    /// The sine after `count` quarter turns, with its sign flipped by `sign`.
    fn turned<M>(m, count: M::Whole, r: Pair<M>, sign: M::Whole) -> M::Number {
        let [sine, cosine] = sine_and_cosine(m, r);
        let (sine, cosine) = (m.add(sine.0, sine.1), m.add(cosine.0, cosine.1));
        let (zero, one, two) = (m.whole(0), m.whole(1), m.whole(2));
        let odd = m.wand(count, one);
        let is_even = m.wequal(odd, zero);
        let result = m.select(is_even, sine, cosine);
        let half_turn = m.wand(count, two);
        let flip = m.shl(half_turn, 62);
        let flip = m.wxor(flip, sign);
        with_sign(m, result, flip)
    }
}

/// The sine.
#[inline(always)]
pub fn sin<M: Machine>(m: &mut M, x: M::Number, reach: Reach) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let Reduced { count, r } = reduced(m, a, reach);
    turned(m, count, r, sign)
}

/// The cosine.
#[inline(always)]
pub fn cos<M: Machine>(m: &mut M, x: M::Number, reach: Reach) -> M::Number {
    let a = m.abs(x);
    let Reduced { count, r } = reduced(m, a, reach);
    let (one, zero) = (m.whole(1), m.whole(0));
    let count = m.wadd(count, one);
    turned(m, count, r, zero)
}

shared! {
    /// The sine of pi times a magnitude, after `quarters` more. A zero is +0.
    fn sine_of_half_turns<M>(m, a: M::Number, quarters: i64) -> M::Number {
        let (half, minus_half, two, minus_two) = (m.number(0.5), m.number(-0.5), m.number(2.0), m.number(-2.0));
        // Removes multiples of 2, then of 1/2: all of that is exact.
        let turns = m.mul(a, half);
        let turns = m.nearest(turns);
        let left = m.fma(turns, minus_two, a);
        let shifter = m.number(SHIFTER);
        let shifted = m.fma(left, two, shifter);
        let count = m.sub(shifted, shifter);
        let left = m.fma(count, minus_half, left);
        let (pi, pi_rest) = numbers(m, [2.0 * HALF_PI[0], 2.0 * HALF_PI[1]]);
        let (r, error) = two_product(m, left, pi);
        let rest = m.fma(left, pi_rest, error);
        let (count, quarters, sign) = (m.bits(shifted), m.whole(quarters), m.whole(0));
        let count = m.wadd(count, quarters);
        let result = turned(m, count, (r, rest), sign);
        let zero = m.number(0.0);
        m.add(result, zero)
    }
}

/// The sine of `x` times pi. For an integer it is a zero with the sign of that.
#[inline(always)]
pub fn sinpi<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let result = sine_of_half_turns(m, a, 0);
    with_sign(m, result, sign)
}

/// The cosine of `x` times pi.
#[inline(always)]
pub fn cospi<M: Machine>(m: &mut M, x: M::Number) -> M::Number {
    let a = m.abs(x);
    sine_of_half_turns(m, a, 1)
}

/// The tangent: the sine over the cosine, or, after an odd number of quarters, the cosine over minus the sine.
#[inline(always)]
pub fn tan<M: Machine>(m: &mut M, x: M::Number, reach: Reach) -> M::Number {
    let (a, sign) = (m.abs(x), sign_of(m, x));
    let Reduced { count, r } = reduced(m, a, reach);
    let [sine, cosine] = sine_and_cosine(m, r);
    let (sine, cosine) = (normal(m, sine), normal(m, cosine));
    let (zero, one) = (m.whole(0), m.whole(1));
    let odd = m.wand(count, one);
    let is_even = m.wequal(odd, zero);
    let over = select_pair(m, is_even, sine, cosine);
    let under = select_pair(m, is_even, cosine, sine);
    let (first, rest) = quotient(m, over, under);
    let result = m.add(first, rest);
    let flip = m.shl(count, 63);
    let flip = m.wxor(flip, sign);
    with_sign(m, result, flip)
}
