//! Description of the work: sweeps over an array of some size; and a round of them over tiles of the host's memory.

use crate::cuda::kernels::Kernel;
use crate::host::SharedOutput;
use crate::partition::{Cut, Size};
use crate::platform::watch::Watch;
use crate::stencil::Sides;

/// Sweeps over an array of this size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<T> {
    pub(crate) size: Size,
    /// Number of samples on either side that an output needs, along each dimension.
    pub(crate) radius: Size,
    pub(crate) sides: Sides<T>,
    pub(crate) sweeps: usize,
}

impl<T> Work<T> {
    pub(crate) fn elements(&self) -> usize {
        self.size.iter().product()
    }
}

/// A round over tiles: through the slots, or each on the device like an array of its own.
pub(crate) struct Round<'a, T> {
    pub(crate) kernel: &'a dyn Kernel<T>,
    /// The whole array, and the sweeps of this round.
    pub(crate) work: Work<T>,
    pub(crate) cut: &'a Cut<T>,
    pub(crate) from: &'a [T],
    pub(crate) to: &'a SharedOutput<'a, T>,
    pub(crate) watch: &'a Watch,
}
