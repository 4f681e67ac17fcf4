//! The engine on one device.

use super::driver::Driver;
use super::driver::context;
use super::driver::memory::Budget;
use super::element::Element;
use super::kernels::{self, Kernel, LevelsKernel};
use super::operators::{self, Runs};
use super::program;
use super::routes::array::DeviceArray;
use super::routes::work::Work;
use super::routes::{self, copies, levels};
use super::runtime::device::{self, Device};
use crate::host;
use crate::platform::watch::Watch;
use crate::stencil::program::{Gait, Kernel as StepKernel, Limits, Recurrence};
use crate::stencil::{
    Advance, AnySource, AnyTarget, Array, Arrays, Chain, Convolution, Derivative, Engine, Error, Filters, Given,
    Handle, Indices, Noted, Operation, Prepared, Real, Source, Stencil, Target, compute_filter,
};

/// The engine on one device.
///
/// A device works for one call at a time, whichever `Cuda` and thread the call comes from. Another call on it does not
/// wait: it is [`Error::Busy`]. So computing from several threads takes a device for each, or a lock.
#[derive(Debug, Clone, Copy)]
pub struct Cuda {
    ordinal: usize,
    budget: Budget,
    /// The requested walk for several steps at once.
    walk: Option<Gait>,
}

impl Cuda {
    /// Opens the engine on the requested device (its ordinal, from 0), or on that of [`Cuda::find`], with its context.
    ///
    /// The buffers that it keeps are bounded by [`DEFAULT_DEVICE_BYTES`](crate::cuda::DEFAULT_DEVICE_BYTES); while a
    /// call lasts it may take more, most of the device's free memory, for an array that is swept there.
    /// [`Cuda::with_device_bytes`] bounds both.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is no driver, none new enough, or no such device; [`Error::Busy`] if another call
    /// has the device; the driver's error if it refuses a context.
    pub fn open(wanted: Option<usize>) -> Result<Cuda, Error> {
        let ordinal = Cuda::find(wanted)?;
        device::open(ordinal)?;
        Ok(Cuda { ordinal, budget: Budget::new(None), walk: None })
    }

    /// Returns the ordinal of the device that [`Cuda::open`] would use: without a request, the device of the context
    /// which is current on this thread, if there is one, and else the first that can be used. The device is not
    /// touched.
    ///
    /// # Errors
    /// [`Error::NoDevice`], as for `open`.
    pub fn find(wanted: Option<usize>) -> Result<usize, Error> {
        let driver = Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?;
        // If the host has chosen a device already, as MATLAB's workers have, it is that one.
        let current = if wanted.is_none() { context::current_device()? } else { None };
        match current.filter(|&ordinal| driver.select(Some(ordinal)).is_ok()) {
            Some(ordinal) => Ok(ordinal),
            None => driver.select(wanted),
        }
    }

    /// Returns the number of devices that the driver shows, usable or not.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is no driver that can be used.
    pub fn count() -> Result<usize, Error> {
        Ok(Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?.devices.len())
    }

    /// True if the device of this ordinal is of the kind of chip that was measured.
    pub fn is_measured(ordinal: usize) -> bool {
        let device = Driver::get().ok().and_then(|driver| driver.devices.get(ordinal));
        device.is_some_and(|device| device.as_ref().is_ok_and(|device| device.capability == kernels::CAPABILITY))
    }

    /// Bounds all device memory of its buffers, in bytes. One tile is used even if that is more.
    pub fn with_device_bytes(self, device_bytes: usize) -> Cuda {
        Cuda { budget: Budget::new(Some(device_bytes)), ..self }
    }

    /// Does several steps or sweeps by this walk, or one after the other, instead of the fastest way. The bits do not
    /// depend on it.
    pub fn with_walk(self, walk: Gait) -> Cuda {
        Cuda { walk: Some(walk), ..self }
    }

    /// Returns the device's ordinal, from 0.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Returns the free device memory, in bytes.
    ///
    /// # Errors
    /// [`Error::Busy`] if a call has the device; the driver's error.
    pub fn free_memory(&self) -> Result<usize, Error> {
        device::with(self.ordinal, |device| device.context.free_memory())
    }
}

/// Arrays that lie on another device.
impl Cuda {
    /// Returns a copy on this device of an array that the engine holds on another one. It may be in flight when this
    /// returns; later uses of the two are ordered after it.
    ///
    /// # Errors
    /// [`Error::Foreign`] for an array of another engine; [`Error::OutOfMemory`]; [`Error::Busy`] if another call has
    /// one of the devices; the driver's error.
    pub fn copy_of<T: Real>(&self, array: &Array<T>) -> Result<Array<T>, Error> {
        let ordinal = array.held::<DeviceArray>()?.ordinal();
        let places = [(ordinal, self.budget), self.place()];
        device::with_all(&places, &mut [], &mut |devices| match devices {
            [from, to] => copies::copy_across(from, to, array),
            _ => Err(Error::Internal("A copy between other than two devices.".into())),
        })
    }
}

/// Device memory of another library, in the device's primary context.
impl Cuda {
    /// Returns the ordinal of the device with the memory at `address`; for 0, of the device whose context is current on
    /// this thread, or of the first that can be used if there is none.
    ///
    /// # Errors
    /// [`Error::NoDevice`], as for [`Cuda::find`]; the driver's error for an unknown address.
    pub fn device_at(address: u64) -> Result<usize, Error> {
        Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?;
        if address != 0 {
            return context::device_at(address);
        }
        context::current_device()?.map_or_else(|| Cuda::find(None), Ok)
    }

    /// Returns the numbers at an address on the device with this ordinal as an array of the engine. Calls that use it
    /// have ended on the device when they return, except those of operations other than filters: after
    /// them [`Cuda::settle`] waits.
    ///
    /// # Safety
    /// `len` numbers of class `T` lie there, aligned to 16 bytes, until the array is dropped; meanwhile nothing else
    /// writes what is read, or reads what is written.
    pub unsafe fn borrow<T: Real>(ordinal: usize, address: u64, len: usize) -> Array<T> {
        Array::new(DeviceArray::Foreign { address, ordinal }, len)
    }

    /// Waits for all work in flight on the arrays of the device.
    ///
    /// # Errors
    /// [`Error::Busy`] if a call has the device; the driver's error.
    pub fn settle(&self) -> Result<(), Error> {
        device::with(self.ordinal, |device| device.queue.wait())
    }
}

impl Engine for Cuda {
    fn name(&self) -> &str {
        "cuda"
    }

    fn limits(&self) -> Option<Limits> {
        Some(program::LIMITS)
    }

    fn prepare(&self, kernel: &StepKernel) -> Result<Box<dyn Prepared>, Error> {
        program::prepare(*self, self.ordinal, kernel)
    }

    fn has_chains(&self) -> bool {
        self.walk != Some(Gait::NONE)
    }

    fn chain(&self, noted: Vec<Noted>) -> Result<Box<dyn Chain>, Error> {
        program::chain(*self, noted)
    }

    fn prepare_steps(&self, what: &Recurrence) -> Result<Option<Box<dyn Advance>>, Error> {
        Ok(program::Steps::new(*self, self.ordinal, what, self.walk)?.map(|steps| Box::new(steps) as Box<dyn Advance>))
    }

    fn compute(&self, what: &Given, to: AnyTarget, watch: &Watch) -> Result<Option<Indices>, Error> {
        if let Operation::Filter(filter, from) = what {
            let stencil =
                |what: &Stencil, from: Source<f64>, to: Target<f64>| operators::stencil(self, what, from, to, watch);
            return compute_filter(self, stencil, (filter, *from, to), watch).map(|()| None);
        }
        match to {
            AnyTarget::Double(to) => self.compute_in(what, to, watch),
            AnyTarget::Single(to) => self.compute_in(what, to, watch),
        }
    }

    fn find(&self, from: AnySource, watch: &Watch) -> Result<Indices, Error> {
        match from {
            AnySource::Single(_) => self.find_in::<f32>(from.array()?, watch),
            _ => self.find_in::<f64>(from.array()?, watch),
        }
    }

    fn ordinals(&self, indices: &Indices, to: AnyTarget, watch: &Watch) -> Result<(), Error> {
        match to {
            AnyTarget::Double(to) => self.ordinals_of(indices, to, watch),
            AnyTarget::Single(to) => self.ordinals_of(indices, to, watch),
        }
    }

    fn list(&self, places: &[u64], watch: &Watch) -> Result<Option<Indices>, Error> {
        self.list_of::<f64>(places, watch).map(Some)
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
        self.attempt_in_place(watch, |device, begun| levels::two_levels(device, &kernel.clone(), levels, begun, watch))
    }
}

impl Cuda {
    /// Returns the device's ordinal, and the budget of its buffers.
    pub(super) fn place(&self) -> (usize, Budget) {
        (self.ordinal, self.budget)
    }

    /// Runs `work` on the device, whose pool keeps to this engine's budget from now on.
    fn with<R>(&self, work: impl FnMut(&mut Device) -> Result<R, Error>) -> Result<R, Error> {
        device::within(self.ordinal, self.budget, work)
    }

    /// Runs `work`, which counts in `watch`, on the device. It may be run twice: see [`device::with`]. Only the last
    /// attempt is counted.
    pub(super) fn attempt<R>(
        &self,
        watch: &Watch,
        mut work: impl FnMut(&mut Device) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mark = watch.mark();
        self.with(|device| {
            watch.rewind(mark);
            work(device)
        })
    }

    /// Runs `work` as [`Cuda::attempt`] does, but it overwrites its input. It sets its second argument when it begins
    /// to: after that it is not run again, since it would start from partial results.
    pub(super) fn attempt_in_place<R>(
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

impl program::Attempts for Cuda {
    fn attempt_once(&self, watch: &Watch, work: &mut dyn FnMut(&mut Device) -> Result<(), Error>) -> Result<(), Error> {
        self.attempt(watch, work)
    }
}

impl Runs for Cuda {
    fn walk(&self) -> Option<Gait> {
        self.walk
    }

    fn run<T: Element>(
        &self,
        kernel: &dyn Kernel<T>,
        work: &Work<T>,
        from: Source<T>,
        mut to: Target<T>,
        watch: &Watch,
    ) -> Result<(), Error> {
        assert_eq!([from.len(), to.len()], [work.elements(); 2]);
        // A new kernel for each attempt: loaded modules may be gone with the device.
        self.attempt(watch, |device| routes::run(device, &*kernel.another(), work, from, &mut to, self.budget, watch))
    }
}

impl<T: Element> Filters<T> for Cuda {
    fn derive(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        operators::derivative(self, what, from, to, watch)
    }

    fn convolve(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error> {
        operators::convolution(self, what, from, to, watch)
    }
}

impl<T: Element> Arrays<T> for Cuda {
    fn array(&self, len: usize) -> Result<Array<T>, Error> {
        self.with(|device| DeviceArray::with_room_for(device, len))
    }

    fn array_for_others(&self, len: usize) -> Result<Array<T>, Error> {
        self.with(|device| DeviceArray::with_room_alone(device, len))
    }

    fn import(&self, handle: &Handle, len: usize) -> Result<Array<T>, Error> {
        // If this is refused, the device is not to blame.
        self.with(|device| Ok(DeviceArray::of_another_process(device, handle, len)))?
    }

    fn has_room(&self, arrays: usize, len: usize) -> Result<bool, Error> {
        let Some(bytes) = len.checked_mul(size_of::<T>()) else { return Ok(false) };
        self.with(|device| device.has_room(arrays, bytes.max(1), self.budget))
    }

    fn copy(&self, from: Source<T>, mut to: Target<T>, watch: &Watch) -> Result<(), Error> {
        match (from, &mut to) {
            (Source::Host(input), Target::Host(output)) => host::copy(input, output, watch),
            (from, to) => self.attempt(watch, |device| copies::copy(device, from, to, watch)),
        }
    }
}
