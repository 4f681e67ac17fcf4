//! Steps that are being recorded, by their numbers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::process::PerProcess;
use crate::stencil::Error;
use crate::steps::Recording;

fn recordings() -> MutexGuard<'static, HashMap<u64, Recording>> {
    static OPEN: PerProcess<Mutex<HashMap<u64, Recording>>> = PerProcess::new();
    OPEN.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins one.
pub(super) fn open(number: u64) {
    recordings().insert(number, Recording::new());
}

/// The one with this number.
///
/// # Errors
/// [`Error::Trace`], where it is over.
pub(super) fn find(number: u64) -> Result<Recording, Error> {
    let found = recordings().get(&number).cloned();
    found.ok_or_else(|| {
        Error::Trace(
            "The step that this array belongs to is recorded to its end: what a step makes can be had from its results \
             alone."
                .into(),
        )
    })
}

/// Ends one.
pub(super) fn close(number: u64) {
    // Its arrays are not dropped under the lock.
    let recording = recordings().remove(&number);
    drop(recording);
}
