//! The functions of the library: arguments in, a request out, then the output, then the run. No arithmetic and no CUDA in here.
//!
//! A new function is a file beside these, a line in [`FUNCTIONS`], and its name in `matlab/build-mex`.

mod backend;
mod device;
mod options;
mod stencil;

use crate::mex::{Error, Function};
use crate::stencil as domain;

/// Every function, by the name under which a host calls it.
pub const FUNCTIONS: &[Function] = &[stencil::FUNCTION, device::FUNCTION];

/// An engine's error under its identifier.
impl From<domain::Error> for Error {
    fn from(error: domain::Error) -> Error {
        let kind = match error {
            domain::Error::NoDevice(_) => "noDevice",
            domain::Error::OutOfMemory(_) => "outOfMemory",
            domain::Error::Cuda(_) => "cuda",
            domain::Error::Internal(_) => "internal",
        };
        Error::new(kind, error.to_string())
    }
}

/// The document's words for a number of inputs or outputs, with what was got and what is expected.
fn wrong_number(what: &str, got: usize, expected: &str) -> Error {
    let kind = if what == "Inputs" { "numberOfInputs" } else { "numberOfOutputs" };
    Error::new(kind, format!("Number of {what} are Wrong: got {got}, expected {expected}."))
}

/// Gives back what the engines hold: devices, then threads.
pub fn release() {
    crate::cuda::release();
    crate::workers::Workers::release();
}
