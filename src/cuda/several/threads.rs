//! A thread for each device of a call, and numbers that the threads share out.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::cuda::runtime::device::Device;
use crate::platform::memory;
use crate::platform::workers::Workers;
use crate::stencil::Error;

/// Numbers that several devices share out: each takes the next when it has room for it.
pub(super) struct Shared(Mutex<Range<usize>>);

impl Shared {
    pub(super) fn new(numbers: Range<usize>) -> Shared {
        Shared(Mutex::new(numbers))
    }

    fn numbers(&self) -> MutexGuard<'_, Range<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Iterator for &Shared {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.numbers().next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers().size_hint()
    }
}

/// The length is an upper bound: other devices may take some meanwhile.
impl ExactSizeIterator for &Shared {}

/// Does `work` with each device on a thread of its own, the first on this one, waits for all, and returns the first
/// error. `failed` gets each error, also one for a panic; so threads that wait for others can end.
pub(super) fn on_all(
    devices: &mut [&mut Device],
    failed: &(dyn Fn(&Error) + Sync),
    work: &(dyn Fn(usize, &mut Device) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    /// Reports a panic of the thread when dropped by it.
    struct Panicking<'a>(&'a (dyn Fn(&Error) + Sync));
    impl Drop for Panicking<'_> {
        fn drop(&mut self) {
            if thread::panicking() {
                (self.0)(&Error::Internal("A thread of another device has panicked.".into()));
            }
        }
    }
    let first_error = Mutex::new(None);
    let many = devices.len() > 1;
    let fail = |error: Error| {
        failed(&error);
        first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    };
    let run = |index: usize, device: &mut Device| {
        let _panicking = Panicking(failed);
        let result = device.context.bind().and_then(|()| work(index, device));
        if let Err(error) = result {
            fail(of_device(device.queue.blame(error), device.context.ordinal(), many));
        }
    };
    let (run, apart) = (&run, Workers::is_apart());
    let [own, others @ ..] = devices else {
        return Ok(());
    };
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(others.len());
        for (index, device) in others.iter_mut().enumerate() {
            let run = move || match apart {
                true => Workers::apart(|| run(index + 1, device)),
                false => run(index + 1, device),
            };
            let room = memory::spare(memory::STACK + memory::THREAD).map_err(Error::from);
            let spawned = room.and_then(|()| {
                let thread = thread::Builder::new().name(format!("stencil-device-{index}"));
                thread.stack_size(memory::STACK).spawn_scoped(scope, run).map_err(|error| {
                    Error::OutOfMemory(format!("The system gives no thread for another device: {error}."))
                })
            });
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => return fail(error),
            }
        }
        run(0, own);
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    first_error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Adds a device's number to its error, if there are several.
fn of_device(error: Error, ordinal: usize, many: bool) -> Error {
    let told = |text: String| if many { format!("Device {}: {text}", ordinal + 1) } else { text };
    match error {
        Error::Cuda(text) => Error::Cuda(told(text)),
        Error::OutOfMemory(text) if !text.is_empty() => Error::OutOfMemory(told(text)),
        error => error,
    }
}
