//! Timing on the device.

use super::engine::Cuda;
use super::runtime::clock;
use crate::stencil::Error;

/// Milliseconds of the device from the beginning of `work`, which is calls on arrays that lie there, to its end.
///
/// # Errors
/// Those of `work`, and what the driver says.
pub fn time(cuda: &Cuda, work: impl Fn() -> Result<(), Error>) -> Result<f32, Error> {
    clock::with(cuda.ordinal(), |clock| clock.time(&work))
}
