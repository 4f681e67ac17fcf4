//! The operands of the kernels for arithmetic, and what they call the operations.

use std::fmt::Debug;

use cudarc::driver::sys;

use super::super::super::Element;
use crate::cuda::arguments::{BinaryOp, ReductionOp, UnaryOp};
use crate::stencil::{Binary, Error, Reduction, Unary};

/// An operand on the device.
#[derive(Debug, Clone, Copy)]
pub(in super::super::super) enum On<T> {
    Array(sys::CUdeviceptr),
    Scalar(T),
}

impl<T: Element> On<T> {
    /// Its address, if it has one, and its value, if it has not.
    pub(super) fn parts(self) -> (sys::CUdeviceptr, f64) {
        match self {
            On::Array(address) => (address, 0.0),
            On::Scalar(value) => (0, value.to_f64()),
        }
    }
}

/// Why an operation has no number.
fn no_kernel(op: impl Debug) -> Error {
    Error::Internal(format!("{op:?} has no kernel of its own: it goes through a program."))
}

/// The number of an operation, and its exponent.
///
/// # Errors
/// `Internal`, where no kernel of the archive computes it.
pub(super) fn unary(op: Unary) -> Result<(u32, i32), Error> {
    Ok(match op {
        Unary::Negate => (UnaryOp::NEGATE, 0),
        Unary::Abs => (UnaryOp::ABS, 0),
        Unary::Sqrt => (UnaryOp::SQRT, 0),
        Unary::Not => (UnaryOp::NOT, 0),
        Unary::IsNan => (UnaryOp::IS_NAN, 0),
        Unary::Floor => (UnaryOp::FLOOR, 0),
        Unary::Ceil => (UnaryOp::CEIL, 0),
        Unary::Round => (UnaryOp::ROUND, 0),
        Unary::Fix => (UnaryOp::FIX, 0),
        Unary::Sign => (UnaryOp::SIGN, 0),
        Unary::Saturate { .. } => (UnaryOp::SATURATE, 0),
        Unary::Power(exponent) => (UnaryOp::POWER, exponent),
        other => return Err(no_kernel(other)),
    })
}

/// The number of an operation.
///
/// # Errors
/// `Internal`, where no kernel of the archive computes it.
pub(super) fn binary(op: Binary) -> Result<u32, Error> {
    Ok(match op {
        Binary::Add => BinaryOp::ADD,
        Binary::Subtract => BinaryOp::SUBTRACT,
        Binary::Multiply => BinaryOp::MULTIPLY,
        Binary::Divide => BinaryOp::DIVIDE,
        Binary::Min => BinaryOp::MIN,
        Binary::Max => BinaryOp::MAX,
        Binary::Equal => BinaryOp::EQUAL,
        Binary::NotEqual => BinaryOp::NOT_EQUAL,
        Binary::Less => BinaryOp::LESS,
        Binary::LessEqual => BinaryOp::LESS_EQUAL,
        Binary::Greater => BinaryOp::GREATER,
        Binary::GreaterEqual => BinaryOp::GREATER_EQUAL,
        Binary::And => BinaryOp::AND,
        Binary::Or => BinaryOp::OR,
        Binary::Xor => BinaryOp::XOR,
        Binary::Mod => BinaryOp::MOD,
        Binary::Rem => BinaryOp::REM,
        other => return Err(no_kernel(other)),
    })
}

pub(super) fn reduction(op: Reduction) -> u32 {
    match op {
        Reduction::Sum => ReductionOp::SUM,
        Reduction::Dot => ReductionOp::DOT,
        Reduction::SumOfMagnitudes => ReductionOp::SUM_OF_MAGNITUDES,
        Reduction::Product => ReductionOp::PRODUCT,
        Reduction::Min => ReductionOp::SMALLEST,
        Reduction::Max => ReductionOp::LARGEST,
        Reduction::LargestMagnitude => ReductionOp::LARGEST_MAGNITUDE,
        Reduction::Any => ReductionOp::ANY,
        Reduction::All => ReductionOp::ALL,
        Reduction::Differ => ReductionOp::DIFFER,
    }
}

/// What reduces the results of chunks: it takes as `op` joins.
///
/// The others do so themselves. (A result of magnitudes has no sign to lose, and one of logic is 0 or 1.)
pub(super) fn joining(op: Reduction) -> Reduction {
    match op {
        Reduction::Dot => Reduction::Sum,
        Reduction::Differ => Reduction::Any,
        other => other,
    }
}
