//! The operands of the kernels for arithmetic, and what they call the operations.

use cudarc::driver::sys;

use crate::cuda::Element;
use crate::cuda::arguments::ReductionOp;
use crate::stencil::Reduction;

/// An operand on the device.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) enum On<T> {
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

/// Reduction of the results of chunks: it takes as `op` joins.
///
/// The others do so themselves. (A result of magnitudes has no sign to lose, and one of logic is 0 or 1.)
pub(super) fn joining(op: Reduction) -> Reduction {
    match op {
        Reduction::Dot => Reduction::Sum,
        Reduction::Differ => Reduction::Any,
        other => other,
    }
}
