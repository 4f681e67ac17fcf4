//! MEX functions for MATLAB and GNU Octave: stencils with their taps in CUDA constant memory, and a CPU engine with the
//! same bits.
//!
//! # The way of a call
//! The host calls a MEX file, and that calls [`stencil_mex_call`]. [`mex`] reads the arguments into plain values and
//! finds the function that was called among [`gateway::FUNCTIONS`]. The function checks them and chooses an engine; `mex`
//! has the host make the output; the engine, [`cuda`] or [`cpu`], fills it. What a stencil is, to the last bit, is said in [`stencil`].
//!
//! Arrows run one way: `gateway` knows `mex`, the engines and `stencil`; the engines know `stencil` and [`workers`];
//! `mex` knows no stencil, and the engines know no `mxArray`.

#![warn(missing_docs, clippy::undocumented_unsafe_blocks)]

mod beside;
pub mod cpu;
pub mod cuda;
pub mod gateway;
mod host;
pub mod memory;
pub mod mex;
mod pieces;
mod process;
pub mod ranks;
pub mod scheme;
pub mod stencil;
pub mod steps;
pub mod watch;
pub mod workers;

// Unit tests take some of it.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../tests/common/selection.rs"]
mod selection;

use std::ffi::c_int;

/// A MEX file (`src/mex/stub.c`) calls this for its `mexFunction`.
///
/// # Safety
/// For MEX files alone: `plhs` has room for one output at least, `prhs` holds `nrhs` arrays.
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

/// What the hosts call when a function is cleared, and when they end.
unsafe extern "C-unwind" fn release() {
    mex::guarded_exit(gateway::release);
}
