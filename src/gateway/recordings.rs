//! Steps that are being recorded, by their numbers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::mex::Class;
use crate::process::PerProcess;
use crate::stencil::Error;
use crate::steps::Recording;

/// What an array is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Like {
    pub(super) dims: Vec<usize>,
    pub(super) class: Class,
    /// Whether its numbers are single, which truth values may be or not.
    pub(super) single: bool,
}

pub(super) type Shapes = Vec<Like>;

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
pub(super) fn add_argument(number: u64, like: Like) {
    if let Some((_, arguments)) = recordings().get_mut(&number) {
        arguments.push(like);
    }
}

/// An argument of a recording, by its place from 0.
pub(super) fn argument(number: u64, at: usize) -> Option<Like> {
    recordings().get(&number)?.1.get(at).cloned()
}

/// Ends one: what its arguments were.
pub(super) fn close(number: u64) -> Shapes {
    // Its arrays are not dropped under the lock.
    let recording = recordings().remove(&number);
    recording.map(|(_, arguments)| arguments).unwrap_or_default()
}
