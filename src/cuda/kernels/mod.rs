//! Which kernel for which work, and its argument.

mod any_filter;
mod arithmetic;
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
use super::cut::{Cut, Tile};
use super::module::{Function, Module, Modules};
use super::pace::SharedPace;
use crate::cuda::arguments::{CIRCULAR, CONSTANT, EndsArgument, MIRROR, REPLICATE, SYMMETRIC, SidesArgument};
use crate::stencil::{Boundary, Ends, Error, Sides};

pub(super) use arithmetic::{
    ArithmeticKernels, Family, On, ScanKernels, SortKernels, SortRooms, SortedLines, room_of_scan, scratch_of,
};
pub(super) use convolution::{ConvolutionKernel, is_small};
pub(super) use levels::LevelsKernel;
pub(super) use lines::{LinesKernel, Operator};
pub(super) use sweeps::SweepsKernel;

/// Compute capability of the chips that load `images`, `tensor` and `volumes`. Others lack these instructions, have fewer
/// units for them, or were not measured.
pub(super) const CAPABILITY: (i32, i32) = (9, 0);

/// The multiprocessors of the chip on which the times in the kernels' tables were measured.
const MEASURED_ON: f64 = 132.0;

/// An operator on the device: one that computes arrays there, tile by tile or whole.
pub(super) trait Kernel<T: Element>: Send + Sync {
    /// Another one, which has loaded nothing yet.
    fn another(&self) -> Box<dyn Kernel<T>>;

    /// How an array of the host is cut for so many sweeps: into tiles of about `target` samples, and no more than
    /// `limit` if there can be fewer.
    fn cut(&self, sweeps: usize, target: usize, limit: usize) -> Cut<T>;

    /// How an array of the host is cut for several of so many sweeps at once where the device has no room for it: into
    /// tiles of at most `limit` samples, each of which lies there as an array of its own. `None` where it had better be
    /// cut for the slots.
    fn deep(&self, _sweeps: usize, _limit: usize) -> Option<Cut<T>> {
        None
    }

    /// Samples of the halo of a tile for `sweeps` sweeps, which come on top of the target. 0 where the target counts them.
    fn halo_samples(&self, sweeps: usize) -> usize;

    /// Multiply-adds for an output.
    fn work(&self) -> usize;

    /// What it is, for people.
    fn name(&self) -> &'static str;

    /// Whether `sweeps` sweeps had better be done where the whole array is on the device, although it could be cut.
    fn prefers_resident(&self, sweeps: usize) -> bool;

    /// How it is launched over a tile.
    fn plan(&self, modules: &Modules, area: &Area<T>) -> Result<Box<dyn Plan<T> + '_>, Error>;
}

/// What a kernel computes on: a tile that lies on the device.
#[derive(Debug, Clone)]
pub(super) struct Area<T> {
    pub(super) tile: Tile,
    /// What stands around it.
    pub(super) sides: Sides<T>,
    /// How many sweeps there will be.
    pub(super) sweeps: usize,
    /// The elements that the device works on at the same time, on this tile and on others.
    pub(super) under_way: usize,
    /// Whether there are others.
    pub(super) shared: bool,
    /// Whether it is computed on the queue's stream, where coefficients come in their turn.
    pub(super) queued: bool,
}

impl<T> Area<T> {
    /// Whether it is a whole array on the device: all its samples' places are outputs.
    pub(super) fn is_whole(&self) -> bool {
        let span = self.tile.span();
        self.queued && !span.is_empty() && span.len() == self.tile.samples()
    }

    /// Whether that is swept more than once: what launches of several sweeps are for.
    fn is_swept(&self) -> bool {
        self.is_whole() && self.sweeps > 1
    }
}

/// How many multiprocessors the device has, if it is a chip of [`CAPABILITY`].
fn measured_multiprocessors(modules: &Modules) -> Option<usize> {
    let device = modules.device().filter(|device| device.capability == CAPABILITY)?;
    Some(device.multiprocessors.max(1) as usize)
}

/// A kernel that is loaded, and has its coefficients.
#[derive(Debug, Clone)]
struct Loaded {
    /// Its module's name and its own.
    name: (&'static str, &'static CStr),
    function: Function,
    module: Arc<Module>,
}

/// The kernels that the tiles of an operator need, each loaded when a tile first needs it, by whichever thread. The others do
/// not wait for each other. Tiles of other sizes may need other kernels.
#[derive(Debug, Clone, Default)]
struct LoadOnce([OnceLock<Loaded>; MOST_KERNELS]);

/// The kernels that tiles of one operator may need.
const MOST_KERNELS: usize = 6;

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
        places.find(is_it).ok_or_else(|| Error::Internal(format!("More kernels for one operator than {MOST_KERNELS}.")))
    }
}

/// The launches of a kernel over one tile. Its module is loaded, and has its coefficients.
pub(super) trait Plan<T> {
    /// How the device has kept up with this kernel.
    fn pace(&self) -> &SharedPace;

    /// Into how many launches a sweep can be cut.
    fn units(&self) -> usize;

    /// How many of so many sweeps a launch does at once.
    fn fused(&self, _sweeps: usize) -> Result<usize, Error> {
        Ok(1)
    }

    /// How many sweeps are submitted at a time at least, where there are as many, and in multiples of that: fewer would
    /// take a slower way.
    fn batch_granularity(&self) -> usize {
        1
    }

    /// Where in the array that it writes the tile's outputs begin: the place of the first one there.
    fn first_output(&self) -> usize {
        0
    }

    /// Puts on the stream so many whole sweeps, as many as can be [fused](Plan::fused), from the samples at the first
    /// address to the second.
    fn sweep(&self, stream: sys::CUstream, sweeps: usize, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error>;

    /// Launches one sweep over some of its units.
    fn part(&self, stream: sys::CUstream, units: Range<usize>, buffers: [sys::CUdeviceptr; 2]) -> Result<(), Error>;
}

impl EndsArgument {
    /// What stands beyond either end of a dimension.
    fn new<T: Element>(ends: Ends<T>) -> EndsArgument {
        let both = ends.both();
        EndsArgument { value: both.map(|end| end.constant().to_f64()), boundary: both.map(word) }
    }
}

impl SidesArgument {
    /// What stands around an array.
    fn new<T: Element>(sides: [Ends<T>; 3]) -> SidesArgument {
        let [of_rows, of_columns, of_pages] = sides.map(EndsArgument::new);
        SidesArgument { of_rows, of_columns, of_pages }
    }
}

/// A boundary as the kernels call it.
fn word<T>(boundary: Boundary<T>) -> u32 {
    match boundary {
        Boundary::Constant(_) => CONSTANT,
        Boundary::Replicate => REPLICATE,
        Boundary::Symmetric => SYMMETRIC,
        Boundary::Circular => CIRCULAR,
        Boundary::Mirror => MIRROR,
    }
}

/// The address of an element.
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
        shared::<LinesKernel<f64>>();
        shared::<SweepsKernel<f64>>();
        shared::<ConvolutionKernel<f64>>();
        shared::<super::super::module::Function>();
    }
}
