//! Errors of the engine from results of the driver's calls.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

use crate::stencil::Error;

/// Turns a result of the driver into an error that names the call, with CUDA's name and text for it.
pub(crate) fn failed(call: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| {
        let word = |text: Result<&std::ffi::CStr, DriverError>| {
            text.map_or("unknown".into(), |text| text.to_string_lossy().into_owned())
        };
        let text = format!("{call}: {} ({})", word(error.error_name()), word(error.error_string()));
        match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::OutOfMemory(text),
            _ => Error::Cuda(text),
        }
    }
}
