//! The CUDA engine.
//!
//! It needs a driver and nothing else: the library of the driver is loaded when first asked for, and the kernels are
//! PTX inside this library.
//!
//! What is kept between calls, in [`device`]: the device's primary context, retained; the modules that were used, with
//! their coefficients; and the buffers and streams of [`slots`]. [`release`] gives it all back, and a forked process
//! has none of it. Arrays that somebody holds outlive it. No call resets a device or leaves another context current
//! than it found: the host and its other extensions may use the same GPU.

mod archive;
mod arithmetic;
mod context;
mod cut;
mod device;
mod driver;
mod error;
mod kernels;
pub mod measure;
mod memory;
mod module;
mod pace;
mod parts;
mod queue;
mod schedule;
mod slots;
pub mod study;
mod team;
mod timeline;

pub use driver::{Driver, Properties, dotted};
pub use memory::DEFAULT_DEVICE_BYTES;
pub use team::Team;

use crate::host;
use crate::stencil::{
    Array, Compute, Convolution, Derivative, Ends, Engine, Error, Handle, Lines, Real, Sides, Source, Stencil, Target,
};
use crate::watch::Watch;
use device::Device;
use kernels::{ConvolutionKernel, Kernel, LevelsKernel, LinesKernel, Operator, SweepsKernel};
use memory::Budget;
use schedule::{DeviceArray, Work};

/// A class of numbers that there are kernels for.
trait Element: Real + bytemuck::Pod {
    /// Its name in C, which is part of the names of modules.
    const NAME: &'static str;
}

impl Element for f32 {
    const NAME: &'static str = "float";
}

impl Element for f64 {
    const NAME: &'static str = "double";
}

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
    /// The engine on the device that is asked for (its ordinal, from 0), or on that of [`Cuda::find`]; its context is
    /// opened now.
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

    /// The ordinal of the device that [`Cuda::open`] would use: where none is asked for, that of the context which is
    /// current on this thread, if one is, and else the first that can be used. The device is not touched.
    ///
    /// # Errors
    /// [`Error::NoDevice`], as for `open`.
    pub fn find(wanted: Option<usize>) -> Result<usize, Error> {
        let driver = Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?;
        // Where somebody has chosen a device already, as MATLAB's workers have, it is that one.
        let current = if wanted.is_none() { context::current_device()? } else { None };
        match current.filter(|&ordinal| driver.select(Some(ordinal)).is_ok()) {
            Some(ordinal) => Ok(ordinal),
            None => driver.select(wanted),
        }
    }

    /// How many devices the driver shows, usable or not.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where there is no driver that can be used.
    pub fn count() -> Result<usize, Error> {
        Ok(Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?.devices.len())
    }

    /// Whether the device of this ordinal is of the kind of chip whose times are known.
    pub fn is_measured(ordinal: usize) -> bool {
        let device = Driver::get().ok().and_then(|driver| driver.devices.get(ordinal));
        device.is_some_and(|device| device.as_ref().is_ok_and(|device| device.capability == kernels::CAPABILITY))
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

/// Arrays that lie on another device.
impl Cuda {
    /// A copy on this device of an array that the engine holds on another one. It may be under way when this returns;
    /// whoever uses one of the two comes behind it.
    ///
    /// # Errors
    /// [`Error::Foreign`] for an array of another engine; [`Error::OutOfMemory`]; [`Error::Busy`] where another call has
    /// one of the devices; what the driver says.
    pub fn copy_of<T: Real>(&self, array: &Array<T>) -> Result<Array<T>, Error> {
        let ordinal = array.held::<DeviceArray>()?.ordinal();
        let devices = [Cuda { ordinal, ..*self }, *self];
        team::with_all(&devices, &mut [], &mut |devices| match devices {
            [from, to] => schedule::copy_across(from, to, array),
            _ => Err(Error::Internal("A copy between other than two devices.".into())),
        })
    }
}

/// Memory on a device that is somebody else's, in the device's primary context.
impl Cuda {
    /// The ordinal of the device with the memory at `address`; for 0, of the device whose context is current on this
    /// thread, or of the first that can be used where none is.
    ///
    /// # Errors
    /// [`Error::NoDevice`], as for [`Cuda::find`]; what the driver says of an address that it does not know.
    pub fn device_at(address: u64) -> Result<usize, Error> {
        Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?;
        if address != 0 {
            return context::device_at(address);
        }
        context::current_device()?.map_or_else(|| Cuda::find(None), Ok)
    }

    /// The numbers at an address on the device with this ordinal, as an array of the engine's. Calls that use it have
    /// ended on the device when they return, which those of [`Arithmetic`](crate::stencil::Arithmetic) have not: after
    /// them [`Cuda::settle`] waits.
    ///
    /// # Safety
    /// `len` numbers of class `T` lie there, aligned to 16 bytes, until the array is dropped; nobody else writes what
    /// is read, or reads what is written, meanwhile.
    pub unsafe fn borrow<T: Real>(ordinal: usize, address: u64, len: usize) -> Array<T> {
        Array::new(DeviceArray::Foreign { address, ordinal }, len)
    }

    /// Waits for what is under way on the arrays of the device.
    ///
    /// # Errors
    /// [`Error::Busy`] where a call has the device; what the driver says.
    pub fn settle(&self) -> Result<(), Error> {
        device::with(self.ordinal, |device| device.queue.wait())
    }
}

impl Engine for Cuda {
    fn name(&self) -> &str {
        "cuda"
    }

    fn stencil(&self, what: &Stencil, from: Source<f64>, to: Target<f64>, watch: &Watch) -> Result<(), Error> {
        stencil(self, what, from, to, watch)
    }

    fn joins_levels(&self, what: &Stencil) -> bool {
        LevelsKernel::new(what, 0.0).is_some()
    }

    fn two_levels(
        &self,
        what: &Stencil,
        weight: f64,
        levels: &mut [Array<f64>; 2],
        watch: &Watch,
    ) -> Result<(), Error> {
        let kernel = LevelsKernel::new(what, weight);
        let kernel = kernel.ok_or_else(|| Error::Internal("No kernel for these time levels.".into()))?;
        assert_eq!([levels[0].len(), levels[1].len()], [what.lines().elements(); 2]);
        self.attempt_in_place(watch, |device, begun| {
            schedule::two_levels(device, &kernel.clone(), levels, begun, watch)
        })
    }
}

impl Cuda {
    /// Runs `work` on the device, whose pool keeps to this engine's budget from now on.
    fn with<R>(&self, mut work: impl FnMut(&mut Device) -> Result<R, Error>) -> Result<R, Error> {
        device::with(self.ordinal, |device| {
            let kept = self.budget.kept().saturating_sub(device.slots.device_bytes());
            device.queue.bound(kept, self.budget.is_strict());
            work(device)
        })
    }

    /// Runs `work`, which counts in `watch`, on the device. It may be run twice: see [`device::with`]. Only the last
    /// attempt stays in the count.
    fn attempt<R>(&self, watch: &Watch, mut work: impl FnMut(&mut Device) -> Result<R, Error>) -> Result<R, Error> {
        let mark = watch.mark();
        self.with(|device| {
            watch.rewind(mark);
            work(device)
        })
    }

    /// The same for work that writes over what it reads. Once that is so, which it says by its second argument, it is not
    /// run again: it would go on from what it has left behind.
    fn attempt_in_place<R>(
        &self,
        watch: &Watch,
        mut work: impl FnMut(&mut Device, &mut bool) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let (mut begun, mut failed) = (false, None);
        self.attempt(watch, |device| match &failed {
            Some(error) => Err(Error::clone(error)),
            None => work(device, &mut begun).inspect_err(|error| failed = begun.then(|| error.clone())),
        })
    }
}

/// What runs kernels: a device, or several.
trait Runs {
    /// All of `work`, by this kernel.
    fn run<T: Element, K: Kernel<T> + Clone + Send>(
        &self,
        kernel: &K,
        work: &Work<T>,
        from: Source<T>,
        to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error>;
}

impl Runs for Cuda {
    fn run<T: Element, K: Kernel<T> + Clone + Send>(
        &self,
        kernel: &K,
        work: &Work<T>,
        from: Source<T>,
        mut to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!([from.len(), to.len()], [work.elements(); 2]);
        // A kernel for each attempt: what it has loaded may be gone with the device.
        self.attempt(watch, |device| schedule::run(device, &kernel.clone(), work, from, &mut to, self.budget, watch))
    }
}

/// Sweeps along lines, by the one of two kernels that suits the array.
#[expect(clippy::too_many_arguments, reason = "an operator, and its ends")]
fn along_lines<T: Element>(
    runs: &impl Runs,
    operator: &Operator,
    lines: Lines,
    ends: Ends<T>,
    sweeps: usize,
    from: Source<T>,
    to: Target<T>,
    watch: &Watch,
) -> Result<(), Error> {
    let on_device = !matches!((&from, &to), (Source::Host(_), Target::Host(_)));
    let one = if sweeps == 1 { LinesKernel::new(operator, lines, ends, on_device) } else { None };
    let sides = Sides::from([Ends::default(), ends, Ends::default()]);
    let size = [lines.inner(), lines.length(), lines.outer()];
    let work = Work { size, radius: [0, operator.radius, 0], sides, sweeps };
    match one {
        Some(kernel) => runs.run(&kernel, &work, from, to, watch),
        None => runs.run(&SweepsKernel::new(operator, lines, ends), &work, from, to, watch),
    }
}

/// Sweeps of a convolution.
fn convolution<T: Element>(
    runs: &impl Runs,
    what: &Convolution<T>,
    from: Source<T>,
    to: Target<T>,
    watch: &Watch,
) -> Result<(), Error> {
    if let Some((operator, lines, ends)) = Operator::convolution(what) {
        return along_lines(runs, &operator, lines, ends, what.sweeps(), from, to, watch);
    }
    let (size, radius) = (what.size(), what.filter().radius());
    let work = Work { size, radius, sides: what.boundary(), sweeps: what.sweeps() };
    runs.run(&ConvolutionKernel::new(what), &work, from, to, watch)
}

/// Sweeps of a stencil.
fn stencil(runs: &impl Runs, what: &Stencil, from: Source<f64>, to: Target<f64>, watch: &Watch) -> Result<(), Error> {
    let (lines, ends, sweeps) = (what.lines(), what.boundary(), what.sweeps());
    along_lines(runs, &Operator::stencil(what), lines, ends, sweeps, from, to, watch)
}

/// A derivative.
fn derivative<T: Element>(
    runs: &impl Runs,
    what: &Derivative<T>,
    from: Source<T>,
    to: Target<T>,
    watch: &Watch,
) -> Result<(), Error> {
    along_lines(runs, &Operator::derivative(what), what.lines(), what.boundary(), 1, from, to, watch)
}

impl<T: Element> Compute<T> for Cuda {
    fn derivative(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        derivative(self, what, from, to, watch)
    }

    fn convolution(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        convolution(self, what, from, to, watch)
    }

    fn array(&self, len: usize) -> Result<Array<T>, Error> {
        self.with(|device| DeviceArray::with_room_for(device, len))
    }

    fn array_for_others(&self, len: usize) -> Result<Array<T>, Error> {
        self.with(|device| DeviceArray::with_room_alone(device, len))
    }

    fn import(&self, handle: &Handle, len: usize) -> Result<Array<T>, Error> {
        // That this is refused says nothing of the device.
        self.with(|device| Ok(DeviceArray::of_another_process(device, handle, len)))?
    }

    fn has_room(&self, arrays: usize, len: usize) -> Result<bool, Error> {
        let Some(bytes) = len.checked_mul(size_of::<T>()) else { return Ok(false) };
        self.with(|device| schedule::has_room(device, arrays, bytes.max(1), self.budget))
    }

    fn copy(&self, from: Source<T>, mut to: Target<T>, watch: &Watch) -> Result<(), Error> {
        match (from, &mut to) {
            (Source::Host(input), Target::Host(output)) => host::copy(input, output, watch),
            (from, to) => self.attempt(watch, |device| schedule::copy(device, from, to, watch)),
        }
    }
}

/// Gives back everything that is held of any device; of a device that a call has, at the end of that call. The next
/// call opens what it needs again.
pub fn release() {
    device::release();
}
