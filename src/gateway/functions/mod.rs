//! The MEX functions, a file each, and the modules that only they share.
//!
//! A new function is a file here with a `FUNCTION`, a line in [`FUNCTIONS`], and its name in `matlab/build-mex`.

mod convolution;
mod derivative;
mod device;
mod distributed;
mod filtering;
mod held_images;
mod levels;
mod request;
mod stencil;
mod study;
mod sweeps;
mod windows;

use crate::gateway::arrays;
use crate::mex::Function;

/// All functions, by the names under which hosts call them.
pub const FUNCTIONS: &[Function] = &[
    stencil::FUNCTION,
    derivative::FUNCTION,
    convolution::FUNCTION,
    arrays::FUNCTION,
    study::FUNCTION,
    device::FUNCTION,
];
