//! The elementary functions, each written once for any machine of IEEE 754.
//!
//! # Same bits
//! A function is a straight line of operations of a [`Machine`]: sums, products, divisions, square roots and fused
//! multiply-adds of doubles, each rounded once to nearest, and operations on 64-bit integers. No step depends on a value
//! but by [`Machine::select`]. So every machine that does these operations has the same bits: [`Scalar`] computes them
//! at once, and another may write them down as a program. Only the payload and the sign of a NaN are left open.
//!
//! # Accuracy
//! Each page says the bound of its functions' errors, in units of the last place of the result (ulp). The leading terms
//! of a result are sums of two doubles where that is needed, so that the last addition is most of the error.
//!
//! # Polynomials
//! `coefficients.py`, beside this file, has found them all: they interpolate at the nodes of Chebyshev, and the
//! coefficients are rounded to double. The error that a comment tells is the largest at 4000 points, with the rounded
//! coefficients, as a part of the whole result.

mod circular;
mod exponential;
mod hyperbolic;
mod inverse;
mod logarithm;
mod plane;
mod power;
mod scalar;

pub use circular::{MODERATE, Reach, cos, sin, tan};
pub use exponential::{exp, expm1};
pub use hyperbolic::{cosh, sinh, tanh};
pub use inverse::{acos, asin};
pub use logarithm::{log, log1p, log2, log10};
pub use plane::{atan, atan2, hypot};
pub use power::raised;
pub use scalar::Scalar;

/// What does the operations that the functions are made of.
///
/// Operations on numbers are rounded once, to nearest, ties to even; subnormal numbers count. Comparisons with NaN are
/// false. Operations on whole numbers drop what does not go into 64 bits.
pub trait Machine {
    /// A double.
    type Number: Copy;
    /// 64 bits, a two's complement integer.
    type Whole: Copy;
    /// True or false.
    type Truth: Copy;

    /// A constant.
    fn number(&mut self, value: f64) -> Self::Number;
    /// A constant.
    fn whole(&mut self, value: i64) -> Self::Whole;

    /// `a + b`.
    fn add(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a - b`.
    fn sub(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a b`.
    fn mul(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a / b`.
    fn div(&mut self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a b + c`, rounded once.
    fn fma(&mut self, a: Self::Number, b: Self::Number, c: Self::Number) -> Self::Number;
    /// The square root.
    fn sqrt(&mut self, a: Self::Number) -> Self::Number;
    /// With the other sign.
    fn neg(&mut self, a: Self::Number) -> Self::Number;
    /// Without its sign.
    fn abs(&mut self, a: Self::Number) -> Self::Number;
    /// The nearest whole number, ties to even.
    fn nearest(&mut self, a: Self::Number) -> Self::Number;

    /// The bits of a number.
    fn bits(&mut self, a: Self::Number) -> Self::Whole;
    /// The number of these bits.
    fn of_bits(&mut self, a: Self::Whole) -> Self::Number;

    /// `a + b`.
    fn wadd(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// `a - b`.
    fn wsub(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// The low 64 bits of `a b`.
    fn wmul(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// The high 64 bits of `a b`, both without sign.
    fn wmulhi(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Bits that both have.
    fn wand(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Bits that one of them has.
    fn wor(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// Bits that exactly one of them has.
    fn wxor(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Whole;
    /// To the left by less than 64.
    fn shl(&mut self, a: Self::Whole, by: u32) -> Self::Whole;
    /// To the right by less than 64; zeros follow.
    fn shr(&mut self, a: Self::Whole, by: u32) -> Self::Whole;
    /// To the left by `by`, which is from 0 to 63.
    fn shl_by(&mut self, a: Self::Whole, by: Self::Whole) -> Self::Whole;
    /// To the right by `by`, which is from 0 to 63; zeros follow.
    fn shr_by(&mut self, a: Self::Whole, by: Self::Whole) -> Self::Whole;

    /// `a < b`.
    fn less(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    /// `a <= b`.
    fn less_equal(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    /// `a == b`.
    fn equal(&mut self, a: Self::Number, b: Self::Number) -> Self::Truth;
    /// `a < b`, with their signs.
    fn wless(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Truth;
    /// `a == b`.
    fn wequal(&mut self, a: Self::Whole, b: Self::Whole) -> Self::Truth;
    /// Whether both are true.
    fn both(&mut self, a: Self::Truth, b: Self::Truth) -> Self::Truth;
    /// Whether one of them is true.
    fn either(&mut self, a: Self::Truth, b: Self::Truth) -> Self::Truth;
    /// Whether it is false.
    fn not(&mut self, a: Self::Truth) -> Self::Truth;

    /// `a` where `which` is true, else `b`.
    fn select(&mut self, which: Self::Truth, a: Self::Number, b: Self::Number) -> Self::Number;
    /// `a` where `which` is true, else `b`.
    fn wselect(&mut self, which: Self::Truth, a: Self::Whole, b: Self::Whole) -> Self::Whole;

    /// An entry of a table; `at` lies within.
    fn word(&mut self, table: &'static [u64], at: Self::Whole) -> Self::Whole;
}

/// A sum of two numbers: the first is the sum rounded, or nearly so.
type Pair<M> = (<M as Machine>::Number, <M as Machine>::Number);

/// 1.5 times 2 to 52: a small whole number that is added to it stands in the low bits of the sum.
const SHIFTER: f64 = 6_755_399_441_055_744.0;

/// The bits of [`SHIFTER`].
const SHIFTER_BITS: i64 = 0x4338_0000_0000_0000;

/// The bit of the sign.
const SIGN: i64 = i64::MIN;

/// `a + b` and its rounding error. Exact where `a` is a zero or is not smaller than `b`, signs aside.
#[inline(always)]
fn fast_two_sum<M: Machine>(m: &mut M, a: M::Number, b: M::Number) -> Pair<M> {
    let sum = m.add(a, b);
    let taken = m.sub(a, sum);
    (sum, m.add(taken, b))
}

/// `a + b` and its rounding error, whichever is larger.
#[inline(always)]
fn two_sum<M: Machine>(m: &mut M, a: M::Number, b: M::Number) -> Pair<M> {
    let sum = m.add(a, b);
    let of_b = m.sub(sum, a);
    let of_a = m.sub(sum, of_b);
    let (lost_a, lost_b) = (m.sub(a, of_a), m.sub(b, of_b));
    (sum, m.add(lost_a, lost_b))
}

/// `a b` and its rounding error.
#[inline(always)]
fn two_product<M: Machine>(m: &mut M, a: M::Number, b: M::Number) -> Pair<M> {
    let product = m.mul(a, b);
    let minus = m.neg(product);
    (product, m.fma(a, b, minus))
}

/// `c - a b`, rounded once.
#[inline(always)]
fn minus_product<M: Machine>(m: &mut M, a: M::Number, b: M::Number, c: M::Number) -> M::Number {
    let minus = m.neg(a);
    m.fma(minus, b, c)
}

/// A polynomial, its lowest coefficient first, from the highest on.
#[inline(always)]
fn polynomial<M: Machine, const N: usize>(m: &mut M, x: M::Number, coefficients: &[f64; N]) -> M::Number {
    let mut sum = m.number(coefficients[N - 1]);
    for i in (0..N - 1).rev() {
        let next = m.number(coefficients[i]);
        sum = m.fma(sum, x, next);
    }
    sum
}

/// A quotient of two sums, as a sum. Its error is about 2 to -104 of it.
#[inline(always)]
fn quotient<M: Machine>(m: &mut M, (n, n_rest): Pair<M>, (d, d_rest): Pair<M>) -> Pair<M> {
    let one = m.number(1.0);
    let inverse = m.div(one, d);
    let first = m.mul(n, inverse);
    let rest = minus_product(m, first, d, n);
    let rest = m.add(rest, n_rest);
    let rest = minus_product(m, first, d_rest, rest);
    (first, m.mul(rest, inverse))
}

/// `x` times 2 to the power of `whole`, which is from -2044 to 2046. Two factors, of which the first leaves it exact:
/// so it is rounded once where it becomes subnormal.
#[inline(always)]
fn scaled<M: Machine>(m: &mut M, x: M::Number, whole: M::Whole) -> M::Number {
    let biases = m.whole(2 * 1023);
    let biased = m.wadd(whole, biases);
    let half = m.shr(biased, 1);
    let other = m.wsub(biased, half);
    let [half, other] = [half, other].map(|exponent| m.shl(exponent, 52));
    let [half, other] = [half, other].map(|bits| m.of_bits(bits));
    let first = m.mul(x, half);
    m.mul(first, other)
}

/// The bit of the sign of `x`, alone.
#[inline(always)]
fn sign_of<M: Machine>(m: &mut M, x: M::Number) -> M::Whole {
    let (bits, sign) = (m.bits(x), m.whole(SIGN));
    m.wand(bits, sign)
}

/// `x` with the other sign where the bit of the sign is set in `sign`.
#[inline(always)]
fn with_sign<M: Machine>(m: &mut M, x: M::Number, sign: M::Whole) -> M::Number {
    let bits = m.bits(x);
    let bits = m.wxor(bits, sign);
    m.of_bits(bits)
}

/// A number that is not larger than `bound`, or NaN.
#[inline(always)]
fn at_most<M: Machine>(m: &mut M, x: M::Number, bound: f64) -> M::Number {
    let bound = m.number(bound);
    let beyond = m.less(bound, x);
    m.select(beyond, bound, x)
}

/// A number that is not smaller than `bound`, or NaN.
#[inline(always)]
fn at_least<M: Machine>(m: &mut M, x: M::Number, bound: f64) -> M::Number {
    let bound = m.number(bound);
    let beyond = m.less(x, bound);
    m.select(beyond, bound, x)
}
