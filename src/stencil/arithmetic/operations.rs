//! Elementwise operations on one array or two.

use crate::stencil::Real;
use crate::stencil::functions::{Reach, Scalar};

/// Largest magnitude of an integer power.
pub const MAX_POWER: i32 = 16;

/// Operation on every element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// The negative, also of a zero and a NaN.
    Negate,
    /// The magnitude.
    Abs,
    /// The square root, rounded once.
    Sqrt,
    /// 1 for a zero, else 0; NaN is no zero.
    Not,
    /// 1 for NaN, else 0.
    IsNan,
    /// The largest integer that is not larger. With this and the next three, a zero keeps the operand's sign;
    /// infinities and NaN are unchanged.
    Floor,
    /// The smallest integer that is not smaller.
    Ceil,
    /// The nearest integer; halves are rounded away from zero.
    Round,
    /// The integer part.
    Fix,
    /// 1, -1 or, of either zero, +0; NaN stays.
    Sign,
    /// The nearest number of an integer class from `low` to `high`: NaN gives 0, any other number is rounded as by
    /// [`Unary::Round`], and clamped to the bounds, which are rounded to the array's class. A zero is +0.
    Saturate {
        /// The smallest number of the class.
        low: i64,
        /// The largest one.
        high: i64,
    },
    /// An integer power from -[`MAX_POWER`] to [`MAX_POWER`]: products from the left, `((x x) x) x`, each rounded once;
    /// 1 for the power 0, and 1 divided by the positive power for a negative one.
    Power(i32),
    /// e to the power of the element. This and those below are the elementary functions of
    /// [`functions`](crate::stencil::functions): computed in double, and rounded once to the class single.
    Exp,
    /// The natural logarithm; NaN of a negative number.
    Log,
    /// The logarithm to the base 2.
    Log2,
    /// The logarithm to the base 10.
    Log10,
    /// `log (1 + x)`; NaN below -1.
    Log1p,
    /// `e^x - 1`.
    Expm1,
    /// The sine of an angle in radians.
    Sin,
    /// The cosine.
    Cos,
    /// The tangent.
    Tan,
    /// The arc sine; NaN beyond 1.
    Asin,
    /// The arc cosine; NaN beyond 1.
    Acos,
    /// The arc tangent.
    Atan,
    /// The hyperbolic sine.
    Sinh,
    /// The hyperbolic cosine.
    Cosh,
    /// The hyperbolic tangent.
    Tanh,
    /// The cube root.
    Cbrt,
    /// The sine of an angle in half turns.
    Sinpi,
    /// The cosine of such an angle.
    Cospi,
    /// The inverse hyperbolic sine.
    Asinh,
    /// The inverse hyperbolic cosine; NaN below 1.
    Acosh,
    /// The inverse hyperbolic tangent; NaN beyond 1.
    Atanh,
    /// The error function.
    Erf,
    /// Its complement, `1 - erf x`.
    Erfc,
}

/// Operation on two elements. Comparisons and logic give 1 for true, 0 for false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// The smaller; of a number and NaN the number; of two that compare equal, such as -0 and +0, `a`.
    Min,
    /// The larger, likewise.
    Max,
    /// `a == b`.
    Equal,
    /// `a != b`.
    NotEqual,
    /// `a < b`.
    Less,
    /// `a <= b`.
    LessEqual,
    /// `a > b`.
    Greater,
    /// `a >= b`.
    GreaterEqual,
    /// True if both are nonzero; NaN is nonzero.
    And,
    /// True if one of them is nonzero.
    Or,
    /// True if exactly one of them is nonzero; NaN is nonzero.
    Xor,
    /// The remainder of `a` by a divisor `b`, with the sign of `b`: `a - b floor (a / b)`, each step rounded. `a` if
    /// `b` is a zero. 0 if `b` is no integer and `a / b` is one but for a relative error of less than the class's
    /// epsilon. A result of equal operands is +0.
    ///
    /// An infinite operand gives NaN, as the formula does. A `b` so large that `b + 0.5` rounds to the next number
    /// counts as no integer. All of that is as in GNU Octave.
    Mod,
    /// The remainder of a division rounded to zero, with the sign of `a`: `a - b fix (a / b)`, and NaN if `b` is a
    /// zero.
    Rem,
    /// `b` if `a` is nonzero, else -0, the neutral element of addition. NaN is nonzero.
    Keep,
    /// The angle of the point (`b`, `a`), from -pi to pi: an elementary function, as the two below.
    Atan2,
    /// `sqrt (a^2 + b^2)`, infinite if one of them is.
    Hypot,
    /// `a` to the power of `b`: as C's `pow`, but NaN for a negative `a` and a `b` that is no integer.
    RaisedTo,
}

impl Unary {
    /// Applies the operation to an element.
    #[inline(always)]
    pub fn of<T: Real>(self, x: T) -> T {
        let truth = |truth: bool| if truth { T::ONE } else { T::default() };
        match self {
            Unary::Negate => x.negative(),
            Unary::Abs => x.magnitude(),
            Unary::Sqrt => x.square_root(),
            Unary::Not => truth(x == T::default()),
            Unary::IsNan => truth(x.is_nan()),
            Unary::Floor => x.rounded_down(),
            Unary::Ceil => x.rounded_up(),
            Unary::Round => x.rounded(),
            Unary::Fix => x.rounded_to_zero(),
            Unary::Sign if x > T::default() => T::ONE,
            Unary::Sign if x < T::default() => T::ONE.negative(),
            Unary::Sign => x.magnitude(),
            Unary::Saturate { low, high } => saturated(x, T::from_f64(low as f64), T::from_f64(high as f64)),
            Unary::Power(exponent) => {
                let power = (1..exponent.unsigned_abs()).fold(x, |power, _| power.times(x));
                match exponent {
                    0 => T::ONE,
                    1.. => power,
                    _ => T::ONE.over(power),
                }
            }
            function => T::from_f64(function.on(&mut Scalar, x.to_f64(), Reach::Everything)),
        }
    }
}

/// See [`Unary::Saturate`].
#[inline(always)]
pub(crate) fn saturated<T: Real>(x: T, low: T, high: T) -> T {
    let zero = T::default();
    let whole = if x.is_nan() { zero } else { x.rounded() };
    let bounded = if whole < low { low } else { whole };
    // The sum is +0 where both are zeros.
    zero.plus(if bounded > high { high } else { bounded })
}

/// Computes [`Binary::Mod`] or [`Binary::Rem`]: `whole` rounds the quotient to an integer, and `by_zero` is the result
/// for a divisor of zero.
#[inline(always)]
fn remainder<T: Real>(a: T, b: T, sign_of: T, by_zero: T, whole: impl Fn(T) -> T) -> T {
    let zero = T::default();
    let half = T::from_f64(0.5);
    // Infinities count as integers, and are not added to.
    let nearest = |x: T| if x.minus(x) == zero { x.plus(half).rounded_down() } else { x };
    let quotient = a.over(b);
    let near = nearest(quotient);
    let is_whole = nearest(b) != b && quotient.minus(near).over(near).magnitude() < T::EPSILON;
    let rest = if is_whole { zero } else { a.minus(b.times(whole(quotient))) };
    let rest = if a == b { rest } else { rest.with_sign_of(sign_of) };
    if b == zero { by_zero } else { rest }
}

impl Binary {
    /// Applies the operation to two elements.
    #[inline(always)]
    pub fn of<T: Real>(self, a: T, b: T) -> T {
        let zero = T::default();
        let truth = |truth: bool| if truth { T::ONE } else { zero };
        match self {
            Binary::Add => a.plus(b),
            Binary::Subtract => a.minus(b),
            Binary::Multiply => a.times(b),
            Binary::Divide => a.over(b),
            Binary::Min => {
                if b.is_nan() || a <= b {
                    a
                } else {
                    b
                }
            }
            Binary::Max => {
                if b.is_nan() || a >= b {
                    a
                } else {
                    b
                }
            }
            Binary::Equal => truth(a == b),
            Binary::NotEqual => truth(a != b),
            Binary::Less => truth(a < b),
            Binary::LessEqual => truth(a <= b),
            Binary::Greater => truth(a > b),
            Binary::GreaterEqual => truth(a >= b),
            Binary::And => truth(a != zero && b != zero),
            Binary::Or => truth(a != zero || b != zero),
            Binary::Xor => truth((a != zero) != (b != zero)),
            Binary::Mod => remainder(a, b, b, a, T::rounded_down),
            Binary::Rem => remainder(a, b, a, T::from_f64(f64::NAN), T::rounded_to_zero),
            Binary::Keep => {
                if a != zero {
                    b
                } else {
                    zero.negative()
                }
            }
            function => T::from_f64(function.on(&mut Scalar, [a.to_f64(), b.to_f64()])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_nans_are_as_the_contract_says() {
        let nan = f64::NAN;
        assert_eq!((Binary::Min.of(1.0, nan), Binary::Max.of(nan, -1.0)), (1.0, -1.0));
        assert!(Binary::Min.of(nan, nan).is_nan());
        assert_eq!(Binary::Min.of(-0.0, 0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Binary::Max.of(-0.0, 0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!((Unary::Not.of(nan), Unary::IsNan.of(nan), Binary::And.of(nan, 1.0)), (0.0, 1.0, 1.0));
        assert_eq!((Unary::Power(0).of(nan), Unary::Power(3).of(2.0), Unary::Power(-2).of(2.0)), (1.0, 8.0, 0.25));
    }

    /// The sum of two kept values is one of them, for any value of the other.
    #[test]
    fn keep_selects_one_of_two() {
        let numbers = [0.0, -0.0, 1.0, 5e-324, -f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for a in numbers {
            for b in numbers {
                let chosen = |mask: f64| Binary::Keep.of(mask, a) + Binary::Keep.of(Unary::Not.of(mask), b);
                assert!(chosen(1.0).same(a) && chosen(f64::NAN).same(a) && chosen(-0.0).same(b), "{a} or {b}");
            }
        }
    }

    #[test]
    fn whole_numbers_are_as_the_contract_says() {
        let bits = |op: Unary, x: f64| op.of(x).to_bits();
        for (op, of, is) in [
            (Unary::Round, 0.5, 1.0),
            (Unary::Round, -2.5, -3.0),
            (Unary::Round, 0.5_f64.next_down(), 0.0),
            (Unary::Round, -0.3, -0.0),
            (Unary::Fix, -0.7, -0.0),
            (Unary::Ceil, -0.5, -0.0),
            (Unary::Floor, -0.0, -0.0),
            (Unary::Sign, -0.0, 0.0),
            (Unary::Sign, -7.0, -1.0),
            (Unary::Saturate { low: -128, high: 127 }, -0.3, 0.0),
            (Unary::Saturate { low: -128, high: 127 }, f64::NAN, 0.0),
            (Unary::Saturate { low: -128, high: 127 }, f64::NEG_INFINITY, -128.0),
            (Unary::Saturate { low: 0, high: 255 }, 254.5, 255.0),
        ] {
            assert_eq!(bits(op, of), f64::to_bits(is), "{op:?} of {of}");
        }
        assert!(Unary::Sign.of(f64::NAN).is_nan());
    }

    /// Expected values of GNU Octave.
    #[test]
    fn remainders_are_as_the_host_has_them() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for (a, b, modulo, rest) in [
            (5.0, 3.0, 2.0, 2.0),
            (-5.0, 3.0, 1.0, -2.0),
            (5.0, -3.0, -1.0, 2.0),
            (-6.0, 3.0, 0.0, -0.0),
            (6.0, -3.0, -0.0, 0.0),
            (-0.0, 3.0, 0.0, -0.0),
            (5.0, 0.0, 5.0, nan),
            (-0.0, 0.0, -0.0, nan),
            (-3.0, -3.0, 0.0, 0.0),
            (0.3, 0.1, 0.0, 0.0),
            (-0.3, 0.1, 0.0, -0.0),
            (2.1, 0.1, 0.0, 0.0),
            (5.5, 2.5, 0.5, 0.5),
            (5.0, inf, nan, nan),
            (inf, 5.0, nan, nan),
            (nan, 2.0, nan, nan),
        ] {
            assert!(Binary::Mod.of(a, b).same(modulo), "mod ({a}, {b}) is {}", Binary::Mod.of(a, b));
            assert!(Binary::Rem.of(a, b).same(rest), "rem ({a}, {b}) is {}", Binary::Rem.of(a, b));
        }
        assert!((Binary::Mod.of(0.3_f32, 0.1), Binary::Rem.of(-5.0_f32, 3.0)) == (0.0, -2.0));
    }
}
