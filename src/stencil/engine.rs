use super::Request;

/// Something that computes stencils.
pub trait Engine {
    /// What it is called in tests and reports.
    fn name(&self) -> &str;

    /// Computes `request` into `output`, all of whose elements are written. After an error they are of no known value.
    ///
    /// # Panics
    /// If `output` is not of the input's length.
    fn run(&self, request: &Request, output: &mut [f64]) -> Result<(), Error>;
}

/// Why an engine could not do its work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such device, or none that can be used; the text says why.
    #[error("{0}")]
    NoDevice(String),
    /// Memory ran out on the device or for its transfers, with the buffers already as small as they may be.
    #[error("{0}")]
    OutOfMemory(String),
    /// The driver refused something. The text has the call and CUDA's own name and words for it.
    #[error("{0}")]
    Cuda(String),
    /// A fault of this library's own.
    #[error("{0}")]
    Internal(String),
}
