//! The CUDA engine.
//!
//! It needs a driver and nothing else: the library of the driver is loaded when first asked for, and the kernels are
//! PTX inside this library.
//!
//! # Layers
//! Each names those above it in this list, and none below.
//! - `driver`: the driver and its devices; owners of contexts, streams, events, graphs and memory.
//! - `catalogue`: what is known of the modules between which is chosen, as `cuda/modules.txt` has it.
//! - `arguments`: what kernels are told, as `cuda/arguments.cuh` has it.
//! - `runtime`: what is kept of a device between calls: modules, staging slots, the queue and its buffers.
//! - `kernels`: a file a family of kernels: which module, its arguments, its launches.
//! - `routes`: how the data of a call go: streamed, resident or deep; and the one loop that sweeps.
//! - `program`: kernels that are written at run time.
//! - `operators`: which kernel computes an operator, on one device as on several.
//! - `engine` and `arithmetic`: the engine on one device; `measure` and `study` time it.
//! - `several`: the engine on several devices.
//!
//! # What is kept
//! `runtime::device` keeps the device's primary context, retained; the modules that were used, with their coefficients;
//! and the buffers and streams of `runtime::slots`. [`release`] gives it all back, and a forked process has none of it.
//! Arrays that somebody holds outlive it. No call resets a device or leaves another context current than it found: the
//! host and its other extensions may use the same GPU.

mod arguments;
mod arithmetic;
mod catalogue;
mod cut;
mod driver;
mod element;
mod engine;
mod kernels;
pub mod measure;
mod operators;
mod program;
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
