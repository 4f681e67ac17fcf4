//! The functions of the library: arguments in, a request out, then the output, then the run. No arithmetic and no CUDA
//! in here.
//!
//! Each room uses those above it alone:
//!
//! | room | contents |
//! |---|---|
//! | [`options`] | options of calls, settings of the environment |
//! | [`store`] | arrays and steps that outlive a call |
//! | [`engine`] | the engine for a call, inputs and replies on it |
//! | [`arrays`] | the verbs behind DeviceArray |
//! | [`functions`] | the MEX functions, a file each |

mod arrays;
mod dims;
mod engine;
mod functions;
mod options;
mod store;

pub use functions::FUNCTIONS;

use crate::mex::{Call, Error};
use crate::stencil as domain;

/// An engine's error under its identifier.
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

/// That there are too few inputs, in the document's words.
fn too_few_inputs(call: &Call, expected: &str) -> Error {
    Error::new(
        "numberOfInputs",
        format!("Number of Inputs are Wrong: got {}, expected {expected}.", call.arguments.len()),
    )
}

/// Checks that no more than one output is asked for.
fn check_outputs(call: &Call) -> Result<(), Error> {
    check_outputs_up_to(call, 1)
}

/// Checks that at most `most` outputs are asked for, one or two.
fn check_outputs_up_to(call: &Call, most: usize) -> Result<(), Error> {
    let expected = if most > 1 { "0, 1 or 2" } else { "0 or 1" };
    match call.outputs {
        got if got <= most => Ok(()),
        got => {
            Err(Error::new("numberOfOutputs", format!("Number of Outputs are Wrong: got {got}, expected {expected}.")))
        }
    }
}

/// Gives back what the engines hold, at once or, where calls are under way, when the last of them ends.
pub fn release() {
    engine::calls::release();
}

/// Gives back devices, then threads.
fn give_back() {
    engine::default_device::release();
    crate::cuda::release();
    crate::workers::Workers::release();
    crate::memory::pool::release();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_meets_a_device_in_use_is_told_what_to_do() {
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
