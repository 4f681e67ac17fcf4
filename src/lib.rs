//! MEX functions for MATLAB and GNU Octave: stencils with their taps in CUDA constant memory, and a CPU engine with the
//! same bits.
//!
//! # Path of a call
//! The host calls a MEX file, and that calls [`stencil_mex_call`]. [`mex`] reads the arguments into plain values and
//! finds the called function among [`gateway::FUNCTIONS`]. The function checks them and chooses an engine; `mex` lets
//! the host make the output; the engine, [`cuda`] or [`cpu`], fills it. [`stencil`] defines the operators, to the last
//! bit.
//!
//! Dependencies are one-way: `gateway` uses `mex`, the engines and `stencil`; the engines use `stencil` and
//! [`platform`]; `mex` does not depend on stencils, and the engines do not handle `mxArray`.

#![warn(missing_docs, clippy::undocumented_unsafe_blocks)]

pub mod cpu;
pub mod cuda;
pub mod gateway;
mod host;
pub mod mex;
mod partition;
mod pieces;
pub mod platform;
pub mod ranks;
pub mod scheme;
pub mod stencil;
pub mod steps;

// Unit tests use parts of it.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../tests/common/selection.rs"]
mod selection;

use std::ffi::c_int;

/// Called by a MEX file (`src/mex/stub.c`) for its `mexFunction`.
///
/// # Safety
/// For MEX files alone: `plhs` has room for at least one output, `prhs` holds `nrhs` arrays.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn stencil_mex_call(
    nlhs: c_int,
    plhs: *mut *mut mex::mxArray,
    nrhs: c_int,
    prhs: *mut *const mex::mxArray,
) {
    // SAFETY: passed on as received.
    unsafe { mex::enter(gateway::FUNCTIONS, release, nlhs, plhs, nrhs, prhs) }
}

/// Called by the hosts when a function is cleared, and when they end.
unsafe extern "C-unwind" fn release() {
    mex::guarded_exit(gateway::release);
}
