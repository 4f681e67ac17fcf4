use super::{Convolution, Derivative, Real, Request};
use crate::watch::{Stopped, Watch};

/// Something that computes. In each method all elements of `output` are written; after an error they are of no known
/// value. The work is counted in `watch`, and ends where that says so.
///
/// # Panics
/// Where `output` is not of the input's length.
pub trait Engine: Compute<f32> + Compute<f64> + Send + Sync {
    /// What it is called in tests and reports.
    fn name(&self) -> &str;

    /// Sweeps of a stencil along lines.
    fn stencil(&self, request: &Request, output: &mut [f64], watch: &Watch) -> Result<(), Error>;
}

/// What is computed in every class of numbers.
pub trait Compute<T: Real> {
    /// A nine-point derivative along lines.
    fn derivative(&self, request: &Derivative<T>, output: &mut [T], watch: &Watch) -> Result<(), Error>;

    /// Sweeps of a convolution over an image or a volume.
    fn convolution(&self, request: &Convolution<T>, output: &mut [T], watch: &Watch) -> Result<(), Error>;
}

/// Why an engine could not do its work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such device, or none that can be used; the text says why.
    #[error("{0}")]
    NoDevice(String),
    /// The device is in use by another call that has not ended.
    #[error(
        "A call of this library on the same device is still running, and this call came from inside it (from a timer or a callback) or from another thread."
    )]
    Busy,
    /// Memory ran out on the device or for its transfers, with the buffers already as small as they may be.
    #[error("{0}")]
    OutOfMemory(String),
    /// The driver refused something. The text has the call and CUDA's own name and words for it.
    #[error("{0}")]
    Cuda(String),
    /// The watch was told to stop.
    #[error("Interrupted before the end; nothing was returned.")]
    Interrupted,
    /// A fault of this library's own.
    #[error("{0}")]
    Internal(String),
}

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Error {
        Error::Interrupted
    }
}
