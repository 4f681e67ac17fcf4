//! Elementary functions among the operations, computed on any machine.

use super::{Binary, Unary};
use crate::stencil::functions::{self, Machine, Reach};

impl Unary {
    /// The elementary functions.
    pub const FUNCTIONS: [Unary; 23] = [
        Unary::Exp,
        Unary::Log,
        Unary::Log2,
        Unary::Log10,
        Unary::Log1p,
        Unary::Expm1,
        Unary::Sin,
        Unary::Cos,
        Unary::Tan,
        Unary::Asin,
        Unary::Acos,
        Unary::Atan,
        Unary::Sinh,
        Unary::Cosh,
        Unary::Tanh,
        Unary::Cbrt,
        Unary::Sinpi,
        Unary::Cospi,
        Unary::Asinh,
        Unary::Acosh,
        Unary::Atanh,
        Unary::Erf,
        Unary::Erfc,
    ];

    /// True for an elementary function.
    pub fn is_function(self) -> bool {
        Unary::FUNCTIONS.contains(&self)
    }

    /// Applies an elementary function to a double. `reach` is for sines, cosines and tangents.
    ///
    /// # Panics
    /// For other operations.
    #[inline(always)]
    pub fn on<M: Machine>(self, m: &mut M, x: M::Number, reach: Reach) -> M::Number {
        match self {
            Unary::Exp => functions::exp(m, x),
            Unary::Log => functions::log(m, x),
            Unary::Log2 => functions::log2(m, x),
            Unary::Log10 => functions::log10(m, x),
            Unary::Log1p => functions::log1p(m, x),
            Unary::Expm1 => functions::expm1(m, x),
            Unary::Sin => functions::sin(m, x, reach),
            Unary::Cos => functions::cos(m, x, reach),
            Unary::Tan => functions::tan(m, x, reach),
            Unary::Asin => functions::asin(m, x),
            Unary::Acos => functions::acos(m, x),
            Unary::Atan => functions::atan(m, x),
            Unary::Sinh => functions::sinh(m, x),
            Unary::Cosh => functions::cosh(m, x),
            Unary::Tanh => functions::tanh(m, x),
            Unary::Cbrt => functions::cbrt(m, x),
            Unary::Sinpi => functions::sinpi(m, x),
            Unary::Cospi => functions::cospi(m, x),
            Unary::Asinh => functions::asinh(m, x),
            Unary::Acosh => functions::acosh(m, x),
            Unary::Atanh => functions::atanh(m, x),
            Unary::Erf => functions::erf(m, x),
            Unary::Erfc => functions::erfc(m, x),
            other => unreachable!("{other:?} is no elementary function"),
        }
    }
}

impl Binary {
    /// The elementary functions.
    pub const FUNCTIONS: [Binary; 3] = [Binary::Atan2, Binary::Hypot, Binary::RaisedTo];

    /// True for an elementary function.
    pub fn is_function(self) -> bool {
        Binary::FUNCTIONS.contains(&self)
    }

    /// Applies an elementary function to two doubles.
    ///
    /// # Panics
    /// For other operations.
    #[inline(always)]
    pub fn on<M: Machine>(self, m: &mut M, [a, b]: [M::Number; 2]) -> M::Number {
        match self {
            Binary::Atan2 => functions::atan2(m, a, b),
            Binary::Hypot => functions::hypot(m, a, b),
            Binary::RaisedTo => functions::raised(m, a, b),
            other => unreachable!("{other:?} is no elementary function"),
        }
    }
}
