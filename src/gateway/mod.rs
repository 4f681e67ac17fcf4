//! The functions of the library. Each reads its arguments and returns a request for outputs and for the run that fills
//! them. There is no arithmetic and no CUDA in here.
//!
//! Each module uses only those above it in this table:
//!
//! | module | contents |
//! |---|---|
//! | `dims` | dimensions of arrays |
//! | `options` | options of calls, settings of the environment |
//! | `store` | arrays and steps that outlive a call |
//! | `engine` | the engine of a call, its inputs and replies |
//! | `arrays` | the verbs behind DeviceArray |
//! | `functions` | the MEX functions, a file each |

mod arrays;
mod dims;
mod engine;
mod functions;
mod options;
mod store;

pub use functions::FUNCTIONS;

use crate::mex::{Call, Error};
use crate::stencil as domain;

/// Gives an engine's error its identifier.
impl From<domain::Error> for Error {
    fn from(error: domain::Error) -> Error {
        let kind = match error {
            domain::Error::NoDevice(_) => "noDevice",
            domain::Error::Busy => {
                let advice =
                    "Wait until that call is over; 'Backend', 'cpu' works meanwhile, where a function takes it.";
                return Error::new("busy", format!("{error} {advice}"));
            }
            domain::Error::OutOfMemory(_) => "outOfMemory",
            domain::Error::Cuda(_) => "cuda",
            domain::Error::Interrupted => "interrupted",
            domain::Error::Rank(_) => "rank",
            domain::Error::Trace(_) => "trace",
            domain::Error::Until(_) => "until",
            domain::Error::Foreign(_) | domain::Error::Internal(_) => "internal",
        };
        Error::new(kind, error.to_string())
    }
}

/// Returns the error of too few inputs, in the document's words.
fn too_few_inputs(call: &Call, expected: &str) -> Error {
    Error::new(
        "numberOfInputs",
        format!("Number of Inputs are Wrong: got {}, expected {expected}.", call.arguments.len()),
    )
}

/// Checks that the host asks for at most one output.
fn check_outputs(call: &Call) -> Result<(), Error> {
    check_outputs_up_to(call, 1)
}

/// Checks that the host asks for at most `most` outputs, one or two.
fn check_outputs_up_to(call: &Call, most: usize) -> Result<(), Error> {
    let expected = if most > 1 { "0, 1 or 2" } else { "0 or 1" };
    match call.outputs {
        got if got <= most => Ok(()),
        got => {
            Err(Error::new("numberOfOutputs", format!("Number of Outputs are Wrong: got {got}, expected {expected}.")))
        }
    }
}

/// Releases all that the engines hold: at once, or when the last call under way ends.
pub fn release() {
    engine::calls::release();
}

/// Releases devices, then threads.
fn release_engines() {
    engine::default_device::release();
    crate::cuda::release();
    crate::platform::workers::Workers::release();
    crate::platform::memory::pool::release();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_in_use_is_an_error_with_advice() {
        let error = Error::from(domain::Error::Busy);
        assert_eq!(error.kind, "busy");
        assert!(
            ["same device", "still running", "timer", "callback", "'Backend', 'cpu'", "Wait"]
                .iter()
                .all(|word| error.text.contains(word)),
            "{error:?}"
        );
    }
}
