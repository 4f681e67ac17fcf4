use super::{Arithmetic, Array, Convolution, Derivative, Error, Handle, Real, Source, Stencil, Target};
use crate::watch::Watch;

/// Something that computes. What is computed holds no data: it comes from a [`Source`] and goes to a [`Target`], each
/// an array of the host or one that this engine holds. In each method all elements of the target are written; after an
/// error they are of no known value. The work is counted in `watch`, and ends where that says so.
///
/// # Panics
/// Where source and target have not as many elements as the operator.
pub trait Engine: Compute<f32> + Compute<f64> + Arithmetic<f32> + Arithmetic<f64> + Send + Sync {
    /// What it is called in tests and reports.
    fn name(&self) -> &str;

    /// Sweeps of a stencil along lines.
    fn stencil(&self, stencil: &Stencil, from: Source<f64>, to: Target<f64>, watch: &Watch) -> Result<(), Error>;

    /// Whether [`Engine::two_levels`] sweeps this stencil, in less time than a step after the other would take.
    fn joins_levels(&self, _what: &Stencil) -> bool {
        false
    }

    /// Sweeps of two time levels, the newest one first: in each `new = F * newest + weight * older`, with one fused
    /// multiply-add for the weight behind the stencil's chain, and then what was the newest is the older one. Both arrays,
    /// which this engine holds, give way to what comes of them. An update counts twice in `watch`, as a stencil and an
    /// [`advance`](Arithmetic::advance) do that give the same bits.
    ///
    /// # Errors
    /// [`Error::Internal`] for what it does not [join](Engine::joins_levels).
    fn two_levels(
        &self,
        _what: &Stencil,
        _weight: f64,
        _levels: &mut [Array<f64>; 2],
        _watch: &Watch,
    ) -> Result<(), Error> {
        Err(Error::Internal(format!("The engine {} has no sweeps of two time levels.", self.name())))
    }
}

/// What is computed in every class of numbers.
pub trait Compute<T: Real> {
    /// A nine-point derivative along lines.
    fn derivative(&self, what: &Derivative<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// Sweeps of a convolution over an image or a volume.
    fn convolution(&self, what: &Convolution<T>, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;

    /// An array that this engine holds, of so many numbers of no known value.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn array(&self, len: usize) -> Result<Array<T>, Error>;

    /// The same, in memory that can be [exported](super::Held::export) by itself.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    fn array_for_others(&self, len: usize) -> Result<Array<T>, Error> {
        self.array(len)
    }

    /// Another process's array of so many numbers on a device of this machine, which has exported it. It is to be read
    /// alone, and to be dropped before that process drops it.
    ///
    /// # Errors
    /// What the driver says; [`Error::Internal`] where this engine's arrays lie in ordinary memory.
    fn import(&self, _: &Handle, _len: usize) -> Result<Array<T>, Error> {
        Err(Error::Internal("An array of another process, for an engine without a device.".into()))
    }

    /// Whether a call of its own should hold so many arrays of so many numbers: there is memory for them, and no bound
    /// on what it takes says otherwise.
    fn has_room(&self, arrays: usize, len: usize) -> Result<bool, Error>;

    /// Copies as many elements from one array to another.
    fn copy(&self, from: Source<T>, to: Target<T>, watch: &Watch) -> Result<(), Error>;
}
