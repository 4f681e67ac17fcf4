//! The CUDA engine.
//!
//! It needs a driver and nothing else: the library of the driver is loaded when first asked for, and the kernels are
//! PTX inside this library.
//!
//! # Layers
//! Each uses those above it in this list, and none below.
//! - `driver`: the driver and its devices; owners of contexts, streams, events, graphs and memory.
//! - `catalogue`: figures of the modules between which Rust chooses, from `cuda/modules.txt`.
//! - `recent`: values that are kept for later calls.
//! - `arguments`: the arguments of kernels, from `cuda/arguments.cuh`.
//! - `runtime`: the state of a device between calls: modules, staging slots, the queue and its buffers.
//! - `kernels`: a file a family of kernels: choice of the module, its arguments, its launches.
//! - `routes`: the routes of a call's data: streamed, resident or deep; and the one loop that sweeps.
//! - `program`: kernels that are written at run time.
//! - `operators`: the choice of the kernel of an operator, on one device as on several.
//! - `engine` and `arithmetic`: the engine on one device; `measure` and `study` time it.
//! - `several`: the engine on several devices.
//!
//! # State between calls
//! `runtime::device` keeps the device's primary context, retained; the modules that were used, with their coefficients;
//! and the buffers and streams of `runtime::slots`. [`release`] frees it all, and a forked process has none of it.
//! Arrays in use outlive it. No call resets a device or leaves another context current than it found: the host and its
//! other extensions may use the same GPU.

mod arguments;
mod arithmetic;
mod catalogue;
mod driver;
mod element;
mod engine;
mod kernels;
pub mod measure;
mod operators;
mod program;
mod recent;
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

/// Closes all devices; one in use is closed at the end of the call that uses it. The next call opens again as needed.
pub fn release() {
    runtime::device::release();
}
