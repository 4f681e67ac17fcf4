//! The kernels: a file a family, which plans its launches and fills in their argument; [`choose`] says which is taken.

mod any_filter;
mod arithmetic;
mod choose;
mod columns;
mod convolution;
mod exact;
mod fused;
mod levels;
mod lines;
mod several;
mod sweeps;
mod tensor;

use std::ffi::CStr;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys;

use super::Element;
use super::module::{Function, Module, Modules};
use super::pace::SharedPace;
use crate::cuda::arguments::{CIRCULAR, CONSTANT, EndsArgument, MIRROR, REPLICATE, SYMMETRIC, SidesArgument};
use crate::partition::{Cut, Size, Tile};
use crate::stencil::{Boundary, Ends, Error, Sides};

pub(super) use arithmetic::{
    ArithmeticKernels, Copies, Family, On, ScanKernels, SortKernels, SortRooms, SortedLines, room_of_scan, scratch_of,
};
pub(super) use choose::{ConvolutionKernel, Way, along_lines};
pub(super) use levels::LevelsKernel;
pub(super) use lines::Operator;

/// Compute capability of the chips that load `images`, `tensor` and `volumes`. Others lack these instructions, have
/// fewer units for them, or were not measured.
pub(super) const CAPABILITY: (i32, i32) = (9, 0);

/// Number of multiprocessors of the chip on which the times in the kernels' tables were measured.
const MEASURED_ON: f64 = 132.0;

/// An operator on the device: it computes arrays there, tile by tile or whole.
pub(super) trait Kernel<T: Element>: Send + Sync {
    /// Returns a copy that has loaded nothing yet.
    fn another(&self) -> Box<dyn Kernel<T>>;

    /// Cuts an array of the host for `sweeps` sweeps: into tiles of about `target` samples, and no more than `limit` if
    /// possible.
    fn cut(&self, sweeps: usize, target: usize, limit: usize) -> Cut<T>;

    /// Cuts an array of the host, for which the device has no room, for several of `sweeps` sweeps at once: into tiles
    /// of at most `limit` samples, each of which lies there as an array of its own. `None` if it is better cut for the
    /// slots.
    fn deep(&self, _sweeps: usize, _limit: usize) -> Option<Cut<T>> {
        None
    }

    /// Returns the samples of a tile's halo for `sweeps` sweeps, in addition to the target. 0 if the target includes
    /// them.
    fn halo_samples(&self, sweeps: usize) -> usize;

    /// Returns the multiply-adds for an output.
    fn work(&self) -> usize;

    /// Returns its name for error messages.
    fn name(&self) -> &'static str;

    /// True if `sweeps` sweeps are faster with the whole array on the device, although it could be cut.
    fn prefers_resident(&self, sweeps: usize) -> bool;

    /// Plans its launches over a tile.
    fn plan(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error>;
}

/// Input of a kernel: a tile that lies on the device.
#[derive(Debug, Clone)]
pub(super) struct Area<T> {
    pub(super) tile: Tile,
    /// Its boundaries.
    pub(super) sides: Sides<T>,
    /// Total number of sweeps.
    pub(super) sweeps: usize,
    /// Number of elements that the device works on at the same time, on this tile and on others.
    pub(super) under_way: usize,
    /// True if there are others.
    pub(super) shared: bool,
    /// True if it is computed on the queue's stream, where coefficients are uploaded in order.
    pub(super) queued: bool,
}

impl<T> Area<T> {
    /// Returns a whole array on the device, which has nothing else to do.
    pub(super) fn whole(size: Size, sides: Sides<T>, sweeps: usize) -> Area<T> {
        let tile = Tile::whole(size);
        Area { under_way: tile.samples(), tile, sides, sweeps, shared: false, queued: true }
    }

    /// True if it is a whole array on the device: all its samples' places are outputs.
    pub(super) fn is_whole(&self) -> bool {
        let span = self.tile.span();
        self.queued && !span.is_empty() && span.len() == self.tile.samples()
    }

    /// True if it is also swept more than once: launches of several sweeps are for that.
    fn is_swept(&self) -> bool {
        self.is_whole() && self.sweeps > 1
    }
}

/// Returns the number of multiprocessors of the device, if it is a chip of [`CAPABILITY`].
fn measured_multiprocessors(modules: &Modules) -> Option<usize> {
    let device = modules.device().filter(|device| device.capability == CAPABILITY)?;
    Some(device.multiprocessors.max(1) as usize)
}

/// A kernel that is loaded, with its coefficients.
#[derive(Debug, Clone)]
struct Loaded {
    /// Name of its module, and its own name.
    name: (&'static str, &'static CStr),
    function: Function,
    module: Arc<Module>,
}

/// Kernels that the tiles of an operator need, each loaded by the first thread with a tile for it; other threads do not
/// wait. Tiles of other sizes may need other kernels.
#[derive(Debug, Clone, Default)]
struct LoadOnce([OnceLock<Loaded>; MAX_KERNELS]);

/// Maximum number of kernels for the tiles of one operator.
const MAX_KERNELS: usize = 6;

impl LoadOnce {
    fn get(
        &self,
        modules: &Modules,
        queued: bool,
        name: &'static str,
        coefficients: (&'static CStr, &[u8]),
        function: &'static CStr,
    ) -> Result<&Loaded, Error> {
        let is_it = |loaded: &&Loaded| loaded.name == (name, function);
        if let Some(loaded) = self.0.iter().filter_map(OnceLock::get).find(is_it) {
            return Ok(loaded);
        }
        let (symbol, values) = coefficients;
        let module = if queued {
            modules.with_symbol(name, symbol, values)?
        } else {
            let module = modules.get(name)?;
            module.set_symbol(symbol, values)?;
            module
        };
        let loaded = Loaded { name: (name, function), function: module.function(function)?, module };
        // Another thread may have taken a place meanwhile.
        let mut places = self.0.iter().map(|place| place.get_or_init(|| loaded.clone()));
        places.find(is_it).ok_or_else(|| Error::Internal(format!("More kernels for one operator than {MAX_KERNELS}.")))
    }
}

/// Launches of a kernel over one tile. Its module is loaded, and has its coefficients.
pub(super) trait Plan<T> {
    /// Returns the pace of the device with this kernel.
    fn pace(&self) -> &SharedPace;

    /// Returns the number of launches into which a sweep can be cut.
    fn units(&self) -> usize;

    /// Returns the number of sweeps, out of `sweeps`, in one launch.
    fn fused(&self, _sweeps: usize) -> Result<usize, Error> {
        Ok(1)
    }

    /// Returns the granularity of batches in sweeps, if there are as many: other numbers would take a slower way.
    fn batch_granularity(&self) -> usize {
        1
    }

    /// Returns the place of the tile's first output in the array that it writes.
    fn first_output(&self) -> usize {
        0
    }

    /// Puts `sweeps` whole sweeps on the stream, as many as can be [fused](Plan::fused), from the samples at the first
    /// address to the second.
    fn sweep(&self, stream: sys::CUstream, sweeps: usize, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error>;

    /// Launches one sweep over some of its units.
    fn part(&self, stream: sys::CUstream, units: Range<usize>, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error>;
}

impl EndsArgument {
    /// Describes the boundaries at both ends of a dimension.
    fn new<T: Element>(ends: Ends<T>) -> EndsArgument {
        let both = ends.both();
        EndsArgument { value: both.map(|end| end.constant().to_f64()), boundary: both.map(word) }
    }
}

impl SidesArgument {
    /// Describes the boundaries on all sides of an array.
    fn new<T: Element>(sides: [Ends<T>; 3]) -> SidesArgument {
        let [of_rows, of_columns, of_pages] = sides.map(EndsArgument::new);
        SidesArgument { of_rows, of_columns, of_pages }
    }
}

/// Returns the kernels' code of a boundary.
fn word<T>(boundary: Boundary<T>) -> u32 {
    match boundary {
        Boundary::Constant(_) => CONSTANT,
        Boundary::Replicate => REPLICATE,
        Boundary::Symmetric => SYMMETRIC,
        Boundary::Circular => CIRCULAR,
        Boundary::Mirror => MIRROR,
    }
}

/// True if kernels with ghost values of their own, those of [`fused`] and [`levels`], know a dimension's boundaries. Others do
/// what they do not know.
fn are_known<T: Element>(ends: Ends<T>) -> bool {
    ends.both().into_iter().all(|end| match end {
        Boundary::Constant(_) | Boundary::Replicate | Boundary::Symmetric | Boundary::Mirror | Boundary::Circular => {
            true
        }
    })
}

/// Returns the address of an element.
fn at<T>(address: sys::CUdeviceptr, element: usize) -> sys::CUdeviceptr {
    address + (element * size_of::<T>()) as sys::CUdeviceptr
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans are made by the threads that launch them, from kernels that they share.
    #[test]
    fn kernels_are_shared_by_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<lines::LinesKernel<f64>>();
        shared::<sweeps::SweepsKernel<f64>>();
        shared::<ConvolutionKernel<f64>>();
        shared::<super::super::module::Function>();
    }
}
