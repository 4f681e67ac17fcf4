//! Steps that are being recorded, by their numbers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::mex::Class;
use crate::process::PerProcess;
use crate::stencil::Error;
use crate::steps::Recording;

/// What an array is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrayType {
    pub(crate) dims: Vec<usize>,
    pub(crate) class: Class,
    /// Whether its numbers are single, which truth values may be or not.
    pub(crate) single: bool,
}

pub(crate) type ArrayTypes = Vec<ArrayType>;

/// A step that is being recorded, over arrays of a device or the CPU.
struct Open {
    number: u64,
    device: Option<usize>,
    recording: Recording,
    arguments: ArrayTypes,
}

/// The one that was begun last is the last.
type Recordings = Vec<Open>;

fn recordings() -> MutexGuard<'static, Recordings> {
    static OPEN: PerProcess<Mutex<Recordings>> = PerProcess::new();
    OPEN.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins one, over arrays of this device or the CPU.
pub(crate) fn open(number: u64, device: Option<usize>, recording: Recording) {
    close(number);
    recordings().push(Open { number, device, recording, arguments: ArrayTypes::new() });
}

/// The one that was begun last, and the device of its arrays.
pub(crate) fn current() -> Option<(u64, Option<usize>)> {
    recordings().last().map(|open| (open.number, open.device))
}

/// The device of the one with this number, if there is such a one.
pub(crate) fn device(number: u64) -> Option<Option<usize>> {
    recordings().iter().find(|open| open.number == number).map(|open| open.device)
}

/// The one with this number.
///
/// # Errors
/// [`Error::Trace`], where it is over.
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

/// That it has one more argument.
pub(crate) fn add_argument(number: u64, like: ArrayType) {
    if let Some(open) = recordings().iter_mut().find(|open| open.number == number) {
        open.arguments.push(like);
    }
}

/// An argument of a recording, by its place from 0.
pub(crate) fn argument(number: u64, at: usize) -> Option<ArrayType> {
    recordings().iter().find(|open| open.number == number)?.arguments.get(at).cloned()
}

/// Ends one: what its arguments were.
pub(crate) fn close(number: u64) -> ArrayTypes {
    // Its arrays are not dropped under the lock.
    let mut all = recordings();
    let open = all.iter().position(|open| open.number == number).map(|at| all.remove(at));
    drop(all);
    open.map(|open| open.arguments).unwrap_or_default()
}
