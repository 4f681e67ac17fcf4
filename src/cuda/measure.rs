//! Timing on the device.

use super::engine::Cuda;
use super::runtime::clock;
use crate::stencil::Error;

/// Returns the milliseconds that the device takes for `work`: calls on arrays that lie there.
///
/// # Errors
/// Those of `work`, and the driver's.
pub fn time(cuda: &Cuda, work: impl Fn() -> Result<(), Error>) -> Result<f32, Error> {
    clock::with(cuda.ordinal(), |clock| clock.time(&work))
}
