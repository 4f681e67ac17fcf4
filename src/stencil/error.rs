//! Errors of an engine.

use crate::platform::memory::OutOfMemory;
use crate::platform::watch::Stopped;

/// Error of an engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such device, or none that can be used; the text gives the reason.
    #[error("{0}")]
    NoDevice(String),
    /// The device is in use by another call that has not ended.
    #[error(
        "A call of this library on the same device is still running, and this call came from inside it (from a timer \
         or a callback) or from another thread."
    )]
    Busy,
    /// Memory ran out on the device or for its transfers, with the buffers already as small as they may be.
    #[error("{0}")]
    OutOfMemory(String),
    /// The driver refused something. The text has the call and CUDA's own name and description of the error.
    #[error("{0}")]
    Cuda(String),
    /// The watch requested a stop.
    #[error("Interrupted before the end; nothing was returned.")]
    Interrupted,
    /// The array is held by another engine; the text has its location.
    #[error("The array lies in {0}, where this engine does not compute.")]
    Foreign(String),
    /// In a collective call, another rank raised an error or left, or the ranks cannot be reached; the text has the
    /// details.
    #[error("{0}")]
    Rank(String),
    /// An operation that cannot be recorded for a program; the text names it, and the remedy.
    #[error("{0}")]
    Trace(String),
    /// The number that would end a run of steps is NaN after this many of them.
    #[error(
        "'Until' gives NaN after step {0}, which is neither true nor false: the states have become NaN, or 0 is divided by 0. \
         'Record' shows what they come to; any (isnan (u(:))) | ... ends the run there."
    )]
    Until(usize),
    /// An internal error of this library.
    #[error("{0}")]
    Internal(String),
}

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Error {
        Error::Interrupted
    }
}

impl From<OutOfMemory> for Error {
    fn from(error: OutOfMemory) -> Error {
        Error::OutOfMemory(error.to_string())
    }
}
