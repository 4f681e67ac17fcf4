//! Steps that are being recorded, by their numbers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::mex::Class;
use crate::process::PerProcess;
use crate::stencil::Error;
use crate::steps::Recording;

/// Dimensions and classes of arrays.
pub(super) type Shapes = Vec<(Vec<usize>, Class)>;

type Recordings = HashMap<u64, (Recording, Shapes)>;

fn recordings() -> MutexGuard<'static, Recordings> {
    static OPEN: PerProcess<Mutex<Recordings>> = PerProcess::new();
    OPEN.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins one.
pub(super) fn open(number: u64) {
    recordings().insert(number, (Recording::new(), Shapes::new()));
}

/// The one with this number.
///
/// # Errors
/// [`Error::Trace`], where it is over.
pub(super) fn find(number: u64) -> Result<Recording, Error> {
    let found = recordings().get(&number).map(|(recording, _)| recording.clone());
    found.ok_or_else(|| {
        Error::Trace(
            "The step that this array belongs to is recorded to its end: what a step makes can be had from its results \
             alone."
                .into(),
        )
    })
}

/// That it has one more argument.
pub(super) fn add_argument(number: u64, dims: &[usize], class: Class) {
    if let Some((_, arguments)) = recordings().get_mut(&number) {
        arguments.push((dims.to_vec(), class));
    }
}

/// Ends one: what its arguments were.
pub(super) fn close(number: u64) -> Shapes {
    // Its arrays are not dropped under the lock.
    let recording = recordings().remove(&number);
    recording.map(|(_, arguments)| arguments).unwrap_or_default()
}
