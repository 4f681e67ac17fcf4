//! The CUDA engine.
//!
//! It needs a driver and nothing else: the library of the driver is loaded when first asked for, and the kernels are
//! PTX inside this library.
//!
//! What is kept between calls, in [`runtime::device`]: the device's primary context, retained; the modules that were
//! used, with their coefficients; and the buffers and streams of [`runtime::slots`]. [`release`] gives it all back, and a forked process
//! has none of it. Arrays that somebody holds outlive it. No call resets a device or leaves another context current
//! than it found: the host and its other extensions may use the same GPU.

mod arithmetic;
mod cut;
mod driver;
mod element;
mod engine;
mod kernels;
pub mod measure;
mod operators;
mod routes;
mod runtime;
mod several;
pub mod study;

pub use driver::memory::DEFAULT_DEVICE_BYTES;
pub use driver::{Driver, Properties, dotted};
pub use engine::Cuda;
pub use several::team::Team;

use element::Element;
#[cfg(test)]
use runtime::archive;
use runtime::{module, pace};

/// Gives back everything that is held of any device; of a device that a call has, at the end of that call. The next
/// call opens what it needs again.
pub fn release() {
    runtime::device::release();
}
