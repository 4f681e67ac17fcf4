//! The CUDA engine.
//!
//! It needs a driver and nothing else: the library of the driver is loaded when first asked for, and the kernels are
//! PTX inside this library.
//!
//! What is kept between calls, in [`device`]: the device's primary context, retained; a module for each tap count that
//! was used; the taps in it; and the buffers and streams of [`staging`]. [`release`] gives it all back, and a forked
//! process has none of it. No call resets a device or leaves another context current than it found: the host and its
//! other extensions may use the same GPU.

mod block_run;
mod blocks;
mod context;
mod convolution;
mod device;
mod driver;
mod error;
mod images;
mod launch;
mod lines;
pub mod measure;
mod memory;
mod module;
mod pace;
mod resident;
mod slabs;
mod staging;
pub mod study;
mod sweeps;

pub use driver::{Driver, Properties, dotted};
pub use staging::DEFAULT_DEVICE_BYTES;

use crate::stencil::{Boundary, Compute, Convolution, Derivative, Engine, Error, Real, Request};
use crate::watch::Watch;
use block_run::Array;
use device::Device;
use lines::LinesPlan;
use resident::Budget;
use sweeps::SweepsPlan;

/// A class of numbers that there are kernels for.
trait Element: Real + bytemuck::Pod {
    /// Its name in C, which is part of the names of images.
    const NAME: &'static str;
}

impl Element for f32 {
    const NAME: &'static str = "float";
}

impl Element for f64 {
    const NAME: &'static str = "double";
}

/// Lines at least as long are cut, each by itself, into blocks with what is around them.
const SPLIT_LENGTH: usize = 1 << 14;

/// Up to here, lines with zeros outside are computed as one run of memory. (21 taps, one sweep, of the speed of a copy:
/// 0.34 for lines of 10, where the kernel that keeps lines whole has 0.25; 0.74 for lines of 1,000, where that has
/// 0.8.)
const AS_ONE_LENGTH: usize = 100;

/// The engine on one device.
///
/// A device works for one call at a time, whichever `Cuda` and thread the call comes from. Another call on it does not
/// wait: it is [`Error::Busy`]. So who computes from several threads takes a device for each, or a lock.
#[derive(Debug, Clone, Copy)]
pub struct Cuda {
    ordinal: usize,
    budget: Budget,
}

impl Cuda {
    /// The engine on the device that is asked for (its ordinal, from 0), or on the first that can be used; its context
    /// is opened now.
    ///
    /// The buffers that it keeps are bounded by [`DEFAULT_DEVICE_BYTES`]; while a call lasts it may take more, most of
    /// what is free of the device's memory, for an array that is swept there. [`Cuda::with_device_bytes`] bounds both.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where there is no driver, none new enough, or no such device; [`Error::Busy`] where another
    /// call has the device; what the driver says if it refuses a context.
    pub fn open(wanted: Option<usize>) -> Result<Cuda, Error> {
        let ordinal = Cuda::find(wanted)?;
        device::open(ordinal)?;
        Ok(Cuda { ordinal, budget: Budget::new(None) })
    }

    /// The ordinal of the device that [`Cuda::open`] would use. The device is not touched.
    ///
    /// # Errors
    /// [`Error::NoDevice`], as for `open`.
    pub fn find(wanted: Option<usize>) -> Result<usize, Error> {
        Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?.select(wanted)
    }

    /// The same with a bound on all device memory that its buffers take, in bytes. One tile is used even if that is
    /// more.
    pub fn with_device_bytes(self, device_bytes: usize) -> Cuda {
        Cuda { budget: Budget::new(Some(device_bytes)), ..self }
    }

    /// The device's ordinal, from 0.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The device memory that is free now, in bytes.
    ///
    /// # Errors
    /// [`Error::Busy`] where a call has the device; what the driver says.
    pub fn free_memory(&self) -> Result<usize, Error> {
        device::with(self.ordinal, |device| device.context.free_memory())
    }
}

impl Engine for Cuda {
    fn name(&self) -> &str {
        "cuda"
    }

    fn stencil(&self, request: &Request, output: &mut [f64], watch: &Watch) -> Result<(), Error> {
        let array = Array {
            input: request.input(),
            lines: request.lines(),
            boundary: request.boundary(),
            sweeps: request.sweeps(),
        };
        self.along_lines(&array, output, watch, &|device| LinesPlan::stencil(device, request), &|| {
            SweepsPlan::stencil(request)
        })
    }
}

impl Cuda {
    /// Runs `work`, which counts in `watch`, on the device. It may be run twice: see [`device::with`]. Only the last
    /// attempt stays in the count.
    fn attempt<R>(&self, watch: &Watch, mut work: impl FnMut(&mut Device) -> Result<R, Error>) -> Result<R, Error> {
        let mark = watch.mark();
        device::with(self.ordinal, |device| {
            watch.rewind(mark);
            work(device)
        })
    }

    /// Sweeps along lines, by the one of two plans that suits the array.
    fn along_lines<T: Element>(
        &self,
        array: &Array<T>,
        output: &mut [T],
        watch: &Watch,
        once: &dyn Fn(&mut Device) -> Result<LinesPlan, Error>,
        many: &dyn Fn() -> SweepsPlan,
    ) -> Result<(), Error> {
        assert_eq!(output.len(), array.input.len());
        let neighbours = array.sweeps == 1 && array.lines.inner() == 1;
        // Short lines, with zeros between them, are one run of memory to the kernel for one sweep.
        let as_one = neighbours && array.lines.length() < AS_ONE_LENGTH && array.boundary.same(Boundary::default());
        self.attempt(watch, |device| {
            if as_one {
                let plan = once(device)?;
                device.staging.stream(&device.context, &plan, array.input, output, self.budget.kept(), watch)
            } else if neighbours && array.lines.length() >= SPLIT_LENGTH {
                let mut plan = once(device)?;
                block_run::sweep(device, &mut plan, array, output, self.budget, watch)
            } else {
                block_run::sweep(device, &mut many(), array, output, self.budget, watch)
            }
        })
    }
}

impl<T: Element> Compute<T> for Cuda {
    fn derivative(&self, request: &Derivative<T>, output: &mut [T], watch: &Watch) -> Result<(), Error> {
        let array = Array { input: request.input(), lines: request.lines(), boundary: request.boundary(), sweeps: 1 };
        self.along_lines(&array, output, watch, &|device| LinesPlan::derivative(device, request), &|| {
            SweepsPlan::derivative(request)
        })
    }

    fn convolution(&self, request: &Convolution<T>, output: &mut [T], watch: &Watch) -> Result<(), Error> {
        assert_eq!(output.len(), request.input().len());
        self.attempt(watch, |device| convolution::run(device, request, output, self.budget, watch))
    }
}

/// Gives back everything that is held of any device; of a device that a call has, at the end of that call. The next
/// call opens what it needs again.
pub fn release() {
    device::release();
}
