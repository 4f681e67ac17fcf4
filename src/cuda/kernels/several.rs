//! Common part of the kernels that do several sweeps over a whole array in a launch: remaining sweeps, and parts of one
//! sweep, go by the kernel for single sweeps.

use std::ops::Range;

use cudarc::driver::sys;

use super::super::Element;
use super::super::pace::SharedPace;
use super::Plan;
use crate::stencil::Error;

/// Launches of several sweeps over a whole array each.
pub(super) trait Several {
    /// Layout of one of them.
    type Layout;

    /// Returns how many of `sweeps` a launch does, and its layout; for that number it returns the same again. `None` if
    /// single sweeps are faster.
    fn fastest(&self, sweeps: usize) -> Option<(usize, &Self::Layout)>;

    /// See [`Plan::batch_granularity`].
    fn batch_granularity(&self) -> usize {
        1
    }

    /// Puts the sweeps of a launch on the stream, from the samples at the first address to the second. `aligned` is
    /// true if both are multiples of 16 bytes.
    ///
    /// # Errors
    /// The driver's.
    fn launch(
        &self,
        stream: sys::CUstream,
        layout: &Self::Layout,
        buffers: [sys::CUdeviceptr; 2],
        aligned: bool,
    ) -> Result<(), Error>;
}

/// Sweeps over a whole array, several in a launch.
pub(super) struct SeveralPlan<'a, T, L> {
    /// Plan of the single sweeps.
    pub(super) single_sweeps: Box<dyn Plan<T> + 'a>,
    pub(super) pace: &'a SharedPace,
    pub(super) launches: L,
}

impl<T: Element, L: Several> Plan<T> for SeveralPlan<'_, T, L> {
    fn pace(&self) -> &SharedPace {
        self.pace
    }

    fn units(&self) -> usize {
        self.single_sweeps.units()
    }

    fn fused(&self, sweeps: usize) -> Result<usize, Error> {
        self.launches.fastest(sweeps).map_or_else(|| self.single_sweeps.fused(sweeps), |(at_once, _)| Ok(at_once))
    }

    fn batch_granularity(&self) -> usize {
        self.launches.batch_granularity()
    }

    fn first_output(&self) -> usize {
        self.single_sweeps.first_output()
    }

    fn sweep(&self, stream: sys::CUstream, sweeps: usize, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        match self.launches.fastest(sweeps) {
            Some((at_once, layout)) if at_once == sweeps => {
                let aligned = buffers.iter().all(|address| address.is_multiple_of(16));
                self.launches.launch(stream, layout, buffers, aligned)
            }
            _ => self.single_sweeps.sweep(stream, sweeps, buffers),
        }
    }

    fn part(&self, stream: sys::CUstream, units: Range<usize>, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error> {
        self.single_sweeps.part(stream, units, buffers)
    }
}
