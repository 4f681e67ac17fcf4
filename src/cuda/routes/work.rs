//! What is to be computed: sweeps over an array of some size, without the kernel and the data.

use crate::cuda::cut::Size;
use crate::stencil::Sides;

/// Sweeps over an array of this size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<T> {
    pub(crate) size: Size,
    /// How many samples on either side an output needs, along each dimension.
    pub(crate) radius: Size,
    pub(crate) sides: Sides<T>,
    pub(crate) sweeps: usize,
}

impl<T> Work<T> {
    pub(crate) fn elements(&self) -> usize {
        self.size.iter().product()
    }
}
