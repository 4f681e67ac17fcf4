//! The elementary functions, each written once for any machine with IEEE 754 arithmetic.
//!
//! # Same bits
//! A function is a straight line of operations of a [`Machine`]: sums, products, divisions, square roots and fused
//! multiply-adds of doubles, each rounded once to nearest, and operations on 64-bit integers. Only [`Machine::select`]
//! depends on a value. So every machine with these operations has the same bits: [`Scalar`] computes them directly, and
//! another may record them as a program. Only the payload and the sign of a NaN are unspecified.
//!
//! All functions are inlined, and none has a closure with a step in it: code that the compiler does not inline is
//! compiled without the instruction set of its caller, and a fused multiply-add becomes a call. A machine that records
//! programs needs no such instructions: shared steps ([`Machine::shared`]) are compiled for it once.
//!
//! # Accuracy
//! Each file states the bound of its functions' errors, in units of the last place of the result (ulp);
//! `tests/checks/functions.rs` compares them with another library's. The leading terms of a result are sums of two
//! doubles if needed, so that the last addition is most of the error.
//!
//! # Polynomials
//! All are computed by `coefficients.py` in this folder: they interpolate at Chebyshev nodes, and the coefficients are
//! rounded to double. The error in a comment is the largest at 4000 points, with the rounded coefficients, relative to
//! the whole result.

/// Functions of a machine `m`, each a step shared by others. A Rust function passed as an argument would not be
/// inlined, so each has a type.
macro_rules! shared {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident<M>($m:ident, $($operand:tt: $type:ty),*) -> $result:ty $body:block
    )*) => {
        $($(#[$attribute])*
        #[inline(always)]
        $visibility fn $name<M: Machine>($m: &mut M, $($operand: $type),*) -> $result {
            struct This;
            impl<M: Machine> crate::stencil::functions::Steps<M, ($($type,)*), $result> for This {
                #[inline(always)]
                fn take($m: &mut M, ($($operand,)*): ($($type,)*)) -> $result $body
            }
            $m.shared(This, ($($operand,)*))
        })*
    };
}

mod circular;
mod cube_root;
mod error_function;
mod exponential;
mod hyperbolic;
mod inverse;
mod inverse_hyperbolic;
mod logarithm;
mod machine;
mod plane;
mod power;
mod random;
mod scalar;
mod steps;

pub use circular::{MODERATE, Reach, cos, cospi, sin, sinpi, tan};
pub use cube_root::cbrt;
pub use error_function::{erf, erfc};
pub use exponential::{exp, expm1};
pub use hyperbolic::{cosh, sinh, tanh};
pub use inverse::{acos, asin};
pub use inverse_hyperbolic::{acosh, asinh, atanh};
pub use logarithm::{log, log1p, log2, log10};
pub use machine::{Machine, Steps};
pub use plane::{atan, atan2, hypot};
pub use power::raised;
pub use random::{Distribution, Draw, philox, random};
pub use scalar::Scalar;
