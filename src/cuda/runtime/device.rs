//! State of a device that is kept between calls.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{mem, thread};

use super::module::Modules;
use super::queue::Queue;
use super::slots::Slots;
use crate::cuda::driver::Driver;
use crate::cuda::driver::context::{Context, HostContext, Stream};
use crate::cuda::driver::memory::Budget;
use crate::platform::process::PerProcess;
use crate::stencil::Error;

/// A device in use: its primary context, the modules loaded into it, and the buffers that data go through. Fields are
/// dropped in this order.
pub(crate) struct Device {
    pub(crate) modules: Arc<Modules>,
    pub(crate) slots: Slots,
    /// For all work outside of the slots.
    pub(crate) queue: Arc<Queue>,
    pub(crate) context: Arc<Context>,
}

/// Devices of this process.
static DEVICES: PerProcess<Registry<Device>> = PerProcess::new();

impl Device {
    fn open(ordinal: usize) -> Result<Device, Error> {
        let context = Context::retain(ordinal)?;
        let queue = Queue::of(&context)?;
        let modules = Arc::new(Modules::new(&queue));
        Ok(Device { modules, slots: Slots::new(), queue, context })
    }

    /// Returns the stream for all work outside of the slots. A caller that puts work on it waits for it, or records it
    /// with the queue.
    pub(crate) fn stream(&self) -> &Arc<Stream> {
        self.queue.stream()
    }

    /// Frees all unused buffers, and returns true if there were any.
    pub(crate) fn release_buffers(&mut self) -> bool {
        // Not `||`: both are released.
        self.slots.release() | self.queue.release()
    }

    /// True if there is room for `wanted` buffers of `bytes` bytes besides the buffers in use. The slots free their own
    /// buffers on the device if the budget requires it.
    pub(crate) fn has_room(&mut self, wanted: usize, bytes: usize, budget: Budget) -> Result<bool, Error> {
        let (pooled, missing) = self.queue.stock(wanted, bytes);
        let held = self.slots.device_bytes() + pooled;
        let Some(needed) = bytes.checked_mul(missing) else {
            return Ok(false);
        };
        if needed.saturating_add(held) <= budget.kept() {
            return Ok(true);
        }
        // More than is kept anyway: asking for the free memory takes longer than allocating a little.
        self.queue.release();
        let limit = budget.during_a_call(|| self.context.free_memory())?;
        if bytes.saturating_mul(wanted) > limit {
            return Ok(false);
        }
        if budget.is_strict() {
            self.slots.release_device();
        }
        Ok(true)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if thread::panicking() {
            // In the middle of a call: its work may still use buffers that are freed next.
            let _ = self.context.synchronize();
        }
    }
}

/// Opens the device, if it is not open.
///
/// # Errors
/// [`Error::Busy`] if another call has it; the driver's error if it refuses a context.
pub(crate) fn open(ordinal: usize) -> Result<(), Error> {
    if DEVICES.get().holds(ordinal)? { Ok(()) } else { with(ordinal, |_| Ok(())) }
}

/// Runs `work` with the device `ordinal`, opened if necessary, current on this thread; the host's own context is
/// current again afterwards.
///
/// `work` is run a second time if it ran out of memory while unused buffers were held: they are freed first. After any
/// other error of the driver the device is closed, since a context may not outlive some of them: if it was kept from an
/// earlier call, it is opened anew and `work` run once more; else the next call opens it.
///
/// # Errors
/// [`Error::Busy`] if another call has the device: this does not wait for its end. [`Error::NoDevice`] in a forked
/// process.
pub(crate) fn with<T>(ordinal: usize, mut work: impl FnMut(&mut Device) -> Result<T, Error>) -> Result<T, Error> {
    let mut made = None;
    with_dyn(ordinal, &mut |device| {
        made = Some(work(device)?);
        Ok(())
    })?;
    made.ok_or_else(|| Error::Internal("Work on a device that was not done.".into()))
}

/// Does the work of [`with`], compiled once.
fn with_dyn(ordinal: usize, work: &mut dyn FnMut(&mut Device) -> Result<(), Error>) -> Result<(), Error> {
    // An engine may be older than a fork, after which no call of the driver may be made.
    Driver::get().map_err(|reason| Error::NoDevice(reason.into()))?;
    let host = HostContext::save();
    let mut lease = DEVICES.get().take(ordinal)?;
    // If even that is refused, the lease ends here and closes the device.
    if let Err(error) = &host {
        return Err(error.clone());
    }
    let mut run = |device: &mut Device| {
        let result = device.context.bind().and_then(|()| work(device));
        let result = match result {
            Err(Error::OutOfMemory(_)) if device.release_buffers() => work(device),
            result => result,
        };
        let result = result.map_err(|error| device.queue.blame(error));
        if let Err(error @ Error::Cuda(_)) = &result {
            device.context.check_alive(error);
        }
        result
    };
    let kept = lease.is_open();
    let mut result = run(lease.open(|| Device::open(ordinal))?);
    if kept && matches!(result, Err(Error::Cuda(_))) {
        // Its context may have been broken since the last call, by another user of the device in this process.
        lease.give_up();
        result = run(lease.open(|| Device::open(ordinal))?);
    }
    if !matches!(result, Err(Error::Cuda(_) | Error::Internal(_))) {
        lease.keep();
    }
    result
}

/// Runs `work` as [`with`] does, on a device whose pool keeps to this budget from now on.
pub(crate) fn within<R>(
    ordinal: usize,
    budget: Budget,
    mut work: impl FnMut(&mut Device) -> Result<R, Error>,
) -> Result<R, Error> {
    with(ordinal, |device| {
        let kept = budget.kept().saturating_sub(device.slots.device_bytes());
        device.queue.bound(kept, budget.is_strict());
        work(device)
    })
}

/// Runs `work` with all these devices, each [`within`] its budget; `held` are those opened so far.
pub(crate) fn with_all<R>(
    places: &[(usize, Budget)],
    held: &mut [&mut Device],
    work: &mut dyn FnMut(&mut [&mut Device]) -> Result<R, Error>,
) -> Result<R, Error> {
    match places {
        [] => work(held),
        &[(ordinal, budget), ref rest @ ..] => within(ordinal, budget, |device| {
            let mut held: Vec<&mut Device> = held.iter_mut().map(|device| &mut **device).collect();
            held.push(device);
            with_all(rest, &mut held, work)
        }),
    }
}

/// Closes all devices: contexts, modules, memory. A device in use is closed by its call, when it ends.
pub(crate) fn release() {
    let devices = DEVICES.get().take_all();
    if devices.is_empty() {
        // There may be no driver at all, or none that may be called, since this process was forked.
        return;
    }
    let _host = HostContext::save();
    drop(devices);
}

/// Devices kept between calls, by number. One call at a time may have one of them; another call is refused, and does
/// not wait.
///
/// # Rationale
/// While a call runs on a thread of its own, a host may run the user's callbacks on the thread that called. If one of
/// these calls us for the same device and waits for it, that thread never returns to check for Ctrl-C.
struct Registry<D>(Mutex<BTreeMap<usize, State<D>>>);

enum State<D> {
    Idle(D),
    /// A call has it, and gives it up at its end if that was requested meanwhile.
    InUse {
        give_up: bool,
    },
}

impl<D> Default for Registry<D> {
    fn default() -> Registry<D> {
        Registry(Mutex::default())
    }
}

impl<D> Registry<D> {
    /// True if number `ordinal` is there and free.
    fn holds(&self, ordinal: usize) -> Result<bool, Error> {
        match self.slots().get(&ordinal) {
            Some(State::Idle(_)) => Ok(true),
            Some(State::InUse { .. }) => Err(Error::Busy),
            None => Ok(false),
        }
    }

    /// Takes number `ordinal` for a call.
    fn take(&self, ordinal: usize) -> Result<Lease<'_, D>, Error> {
        let held = match self.slots().entry(ordinal) {
            btree_map::Entry::Vacant(slot) => {
                slot.insert(State::InUse { give_up: false });
                None
            }
            btree_map::Entry::Occupied(mut slot) => match slot.insert(State::InUse { give_up: false }) {
                State::Idle(held) => Some(held),
                in_use => {
                    slot.insert(in_use);
                    return Err(Error::Busy);
                }
            },
        };
        Ok(Lease { kept: self, ordinal, held, keep: false })
    }

    /// Takes out all that are free, and has the others given up when their calls end.
    fn take_all(&self) -> Vec<D> {
        let mut slots = self.slots();
        let (mut idle, mut in_use) = (Vec::new(), BTreeMap::new());
        for (ordinal, slot) in mem::take(&mut *slots) {
            match slot {
                State::Idle(held) => idle.push(held),
                State::InUse { .. } => drop(in_use.insert(ordinal, State::InUse { give_up: true })),
            }
        }
        *slots = in_use;
        idle
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<usize, State<D>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of them, while a call has it. It is given up at the end of the call unless the call says that it is worth
/// keeping: after a panic, for one, it is not.
struct Lease<'a, D> {
    kept: &'a Registry<D>,
    ordinal: usize,
    held: Option<D>,
    keep: bool,
}

impl<D> Lease<'_, D> {
    /// Returns the leased item, made by `open` if necessary.
    fn open(&mut self, open: impl FnOnce() -> Result<D, Error>) -> Result<&mut D, Error> {
        match &mut self.held {
            Some(held) => Ok(held),
            vacant => Ok(vacant.insert(open()?)),
        }
    }

    /// True if the item exists already.
    fn is_open(&self) -> bool {
        self.held.is_some()
    }

    /// Gives up the item now.
    fn give_up(&mut self) {
        self.held = None;
    }

    fn keep(&mut self) {
        self.keep = true;
    }
}

impl<D> Drop for Lease<'_, D> {
    fn drop(&mut self) {
        let held = self.held.take();
        let mut slots = self.kept.slots();
        let asked_for = matches!(slots.get(&self.ordinal), Some(State::InUse { give_up: true }));
        match held {
            Some(held) if self.keep && !asked_for => drop(slots.insert(self.ordinal, State::Idle(held))),
            given_up => {
                slots.remove(&self.ordinal);
                // Not under the lock: it takes a while.
                drop(slots);
                drop(given_up);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;

    use super::*;

    /// An item that counts its drop.
    struct Counted(Rc<Cell<usize>>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    /// Simulates a call that succeeds, with `inside` in the middle of it.
    fn call(
        kept: &Registry<Counted>,
        ordinal: usize,
        given_back: &Rc<Cell<usize>>,
        inside: impl FnOnce(),
    ) -> Result<(), Error> {
        let mut lease = kept.take(ordinal)?;
        lease.open(|| Ok(Counted(given_back.clone())))?;
        inside();
        lease.keep();
        Ok(())
    }

    #[test]
    fn a_call_inside_another_is_refused_on_the_same_device_only() {
        let (kept, given_back) = (Registry::default(), Rc::default());
        for open_before in [false, true] {
            assert_eq!(kept.holds(0), Ok(open_before));
            let inside = || {
                assert_eq!((kept.holds(0), kept.take(0).err()), (Err(Error::Busy), Some(Error::Busy)));
                assert_eq!(call(&kept, 0, &given_back, || panic!("it has begun")), Err(Error::Busy));
                assert_eq!(call(&kept, 1, &given_back, || {}), Ok(()));
                assert_eq!(kept.holds(1), Ok(true));
            };
            assert_eq!(call(&kept, 0, &given_back, inside), Ok(()));
            assert_eq!((kept.holds(0), given_back.get()), (Ok(true), 0), "kept for the next call");
        }
    }

    #[test]
    fn what_is_in_use_is_given_back_at_the_end_of_its_call() {
        let (kept, given_back) = (Registry::default(), Rc::new(Cell::new(0)));
        call(&kept, 1, &given_back, || {}).unwrap();
        let inside = || {
            assert_eq!(kept.take_all().len(), 1, "the other one, now");
            assert_eq!((given_back.get(), kept.holds(0), kept.holds(1)), (1, Err(Error::Busy), Ok(false)));
            assert_eq!(kept.take_all().len(), 0);
            call(&kept, 1, &given_back, || {}).unwrap();
        };
        call(&kept, 0, &given_back, inside).unwrap();
        assert_eq!((given_back.get(), kept.holds(0), kept.holds(1)), (2, Ok(false), Ok(true)));
        // Only the call with the request gives it up.
        call(&kept, 0, &given_back, || {}).unwrap();
        assert_eq!((given_back.get(), kept.holds(0)), (2, Ok(true)));
    }

    #[test]
    fn a_call_that_fails_leaves_nothing_behind() {
        let (kept, given_back) = (Registry::default(), Rc::new(Cell::new(0)));
        // Opening fails.
        assert_eq!(kept.take(0).unwrap().open(|| Err(Error::Cuda("no".into()))).err(), Some(Error::Cuda("no".into())));
        assert_eq!(kept.holds(0), Ok(false));
        // It is opened, and the call does not ask to keep it.
        assert!(kept.take(0).unwrap().open(|| Ok(Counted(given_back.clone()))).is_ok());
        assert_eq!((kept.holds(0), given_back.get()), (Ok(false), 1));
        // A panic.
        let panicking = AssertUnwindSafe(|| call(&kept, 0, &given_back, || panic!("in the middle of a call")));
        assert!(catch_unwind(panicking).is_err());
        assert_eq!((kept.holds(0), given_back.get()), (Ok(false), 2));
        assert_eq!(call(&kept, 0, &given_back, || {}), Ok(()));
    }
}
