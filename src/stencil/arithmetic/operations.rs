//! What is done with each element by itself, or with two.

use crate::stencil::Real;

/// The largest whole power, either way.
pub const MAX_POWER: i32 = 16;

/// What is done with every element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// The other sign, also of a zero and a NaN.
    Negate,
    /// Without its sign.
    Abs,
    /// The square root, rounded once.
    Sqrt,
    /// 1 for a zero, else 0; NaN is no zero.
    Not,
    /// 1 for NaN, else 0.
    IsNan,
    /// A whole power from -[`MAX_POWER`] to [`MAX_POWER`]: products from the left, `((x x) x) x`, each rounded once; 1
    /// for the power 0, and 1 divided by the positive power for a negative one.
    Power(i32),
}

/// What is done with two elements. Comparisons and logic give 1 for true, 0 for false.
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
    /// Whether neither is a zero; NaN is none.
    And,
    /// Whether one of them is no zero.
    Or,
}

impl Unary {
    /// What becomes of an element.
    #[inline(always)]
    pub fn of<T: Real>(self, x: T) -> T {
        let truth = |truth: bool| if truth { T::ONE } else { T::default() };
        match self {
            Unary::Negate => x.negative(),
            Unary::Abs => x.magnitude(),
            Unary::Sqrt => x.square_root(),
            Unary::Not => truth(x == T::default()),
            Unary::IsNan => truth(x.is_nan()),
            Unary::Power(exponent) => {
                let power = (1..exponent.unsigned_abs()).fold(x, |power, _| power.times(x));
                match exponent {
                    0 => T::ONE,
                    1.. => power,
                    _ => T::ONE.over(power),
                }
            }
        }
    }
}

impl Binary {
    /// What becomes of two elements.
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
}
