//! Steps under recording, by their numbers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::mex::Class;
use crate::platform::process::PerProcess;
use crate::stencil::Error;
use crate::steps::Recording;

/// Dimensions and class of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrayType {
    pub(crate) dims: Vec<usize>,
    pub(crate) class: Class,
    /// True if the numbers are single; those of a logical array may be either.
    pub(crate) single: bool,
}

pub(crate) type ArrayTypes = Vec<ArrayType>;

/// A step under recording, over arrays of a device or the CPU.
struct Open {
    number: u64,
    device: Option<usize>,
    recording: Recording,
    arguments: ArrayTypes,
}

/// In the order in which they were begun.
type Recordings = Vec<Open>;

fn recordings() -> MutexGuard<'static, Recordings> {
    static OPEN: PerProcess<Mutex<Recordings>> = PerProcess::new();
    OPEN.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins a recording over arrays of this device or the CPU.
pub(crate) fn open(number: u64, device: Option<usize>, recording: Recording) {
    close(number);
    recordings().push(Open { number, device, recording, arguments: ArrayTypes::new() });
}

/// Returns the recording that was begun last, and the device of its arrays.
pub(crate) fn current() -> Option<(u64, Option<usize>)> {
    recordings().last().map(|open| (open.number, open.device))
}

/// Returns the device of a recording, if the recording exists.
pub(crate) fn device(number: u64) -> Option<Option<usize>> {
    recordings().iter().find(|open| open.number == number).map(|open| open.device)
}

/// Returns the recording with this number.
///
/// # Errors
/// [`Error::Trace`] if it has ended.
pub(crate) fn find(number: u64) -> Result<Recording, Error> {
    let found = recordings().iter().find(|open| open.number == number).map(|open| open.recording.clone());
    found.ok_or_else(|| {
        Error::Trace(
            "The step that this array belongs to is recorded to its end: what a step makes can be had from its results \
             alone."
                .into(),
        )
    })
}

/// Adds an argument to a recording.
pub(crate) fn add_argument(number: u64, like: ArrayType) {
    if let Some(open) = recordings().iter_mut().find(|open| open.number == number) {
        open.arguments.push(like);
    }
}

/// Returns argument `at` of a recording, from 0.
pub(crate) fn argument(number: u64, at: usize) -> Option<ArrayType> {
    recordings().iter().find(|open| open.number == number)?.arguments.get(at).cloned()
}

/// Ends a recording and returns the types of its arguments.
pub(crate) fn close(number: u64) -> ArrayTypes {
    // Its arrays are dropped outside the lock.
    let mut all = recordings();
    let open = all.iter().position(|open| open.number == number).map(|at| all.remove(at));
    drop(all);
    open.map(|open| open.arguments).unwrap_or_default()
}
