//! Description of the work: sweeps over an array of some size, without the kernel and the data.

use crate::partition::Size;
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
